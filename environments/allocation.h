// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// In this file, an "engine" is the program that has started `trainyard launch` on the hosts of a job, such as Slurm,
// mpirun or Kubernetes.

namespace trainyard {

/// Where the hosts of a run connect to each other at the start: an address of host 0, and the ports at which host 0 can
/// listen.
struct MeetingPlace {
  std::string host;  ///< A name or an address that the other hosts can resolve.
  /// The ports to try, in this order: host 0 listens at the first port that is free. If the engine names no ports, they
  /// are derived from the name of the job (environments/job_ports.h), so that different jobs rarely use the same ports.
  std::vector<std::uint16_t> ports;
};

/// How an engine, such as Slurm, tells the processes of a job that they must stop.
struct StopNotice {
  /// The signals with which the engine asks a run to save a checkpoint and end.
  std::vector<int> signals;
  /// True if the engine also sends the signals to every process that this process has started. The launcher then
  /// shields the processes of the run from the signals, because only the launcher decides when they end.
  bool to_all_processes = false;
  /// The time from the signal until the engine kills the processes, with the engine's default settings; empty if it is
  /// unknown.
  std::optional<std::chrono::seconds> grace;
  /// The time at which the engine will end the job, for instance because of its time limit; empty if it is unknown.
  std::optional<std::chrono::system_clock::time_point> end;
};

/// What an engine has allotted to a run, from the point of view of one of the processes that the engine has started. A
/// "host" is whatever the engine treats as a host: a machine, a container or a pod.
struct Allocation {
  /// The number of this host among the hosts of the job, from 0. It can change when the engine restarts the job.
  std::uint32_t host = 0;
  std::uint32_t hosts = 1;  ///< The number of hosts of the job.
  /// The names of all hosts, in the order of their numbers; empty if the engine does not provide them.
  std::vector<std::string> names;

  /// The number of this process among the processes that the engine has started on this host for the same run, from 0.
  /// If there are several such processes, each of them has one rank and counts as a host of the run.
  std::uint32_t process = 0;
  /// How many processes the engine has started on this host: 1, or, if the engine starts one process for each device,
  /// the number of devices.
  std::uint32_t processes = 1;

  /// The number of devices that the engine has allotted on this host; empty if it is unknown.
  std::optional<std::uint32_t> devices;
  /// Where the hosts connect to each other; empty if it is unknown how other hosts can reach host 0.
  std::optional<MeetingPlace> meeting;

  /// A name that distinguishes this job from all other jobs of the same engine, and that is the same on all hosts;
  /// empty if the engine provides none. When the engine restarts a job, processes of the earlier attempt can still
  /// exist, so only `job` and `restarts` together identify one attempt.
  std::string job;
  std::uint32_t restarts = 0;  ///< How many times the engine has restarted this job.

  StopNotice stop;
  /// The command that puts this job back into the engine's queue: the program and its arguments. Empty if there is
  /// none.
  std::vector<std::string> requeue;
  /// True if the engine automatically restarts the job when one of the job's processes fails.
  bool restarts_failures = false;
};

namespace environments {

/// The maximum number of hosts that a job can have.
inline constexpr std::uint32_t kMostHosts = 65536;

/// Throws kInvalidArgument if the allocation is contradictory: if the number of the host or of the process is too
/// large, if there are names but not one for each host, if a name occurs twice, or if a name is not a valid host name.
/// `where` names the environment, for the error message.
void check_allocation(const Allocation& allocation, const std::string& where);

}  // namespace environments
}  // namespace trainyard
