// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// The place where the hosts of a run meet: an address of host 0, and the ports at which host 0 can listen.
struct MeetingPlace {
  std::string host;  ///< A name or an address that the other hosts can resolve.
  /// The ports to try, in this order. Host 0 listens at the first one that is free. If the engine names no ports, they
  /// are derived from the job (environments/job_ports.h), so that two jobs seldom try the same ports.
  std::vector<std::uint16_t> ports;
};

/// How an engine tells its processes that they must stop.
struct StopNotice {
  /// The signals with which the engine asks a run to save a checkpoint and end.
  std::vector<int> signals;
  /// True if the engine sends them to every process that this process has started, too. The launcher then protects the
  /// processes of the run, because it alone decides when they end.
  bool to_all_processes = false;
  /// The time between the signal and the moment when the engine kills the processes, by default; empty if it is
  /// unknown.
  std::optional<std::chrono::seconds> grace;
  /// The time at which the engine will end the job, for instance because of its time limit; empty if it is unknown.
  std::optional<std::chrono::system_clock::time_point> end;
};

/// What an engine has allotted to a run, as seen by one of the processes that the engine has started. A "host" is
/// whatever the engine treats as one: a machine, a container or a pod.
struct Allocation {
  /// The number of this host among the hosts of the job, counted from 0. If the engine starts the job again, the host
  /// can get another number.
  std::uint32_t host = 0;
  std::uint32_t hosts = 1;  ///< The number of hosts of the job.
  /// The names of all hosts, in the order of their numbers; empty if the engine does not tell them.
  std::vector<std::string> names;

  /// The number of this process among those that the engine has started on this host for the same run, counted from 0.
  /// If there are several, only process 0 launches the run on this host.
  std::uint32_t process = 0;
  /// The number of processes that the engine has started on this host. It is 1 unless the engine starts one process for
  /// each device.
  std::uint32_t processes = 1;

  /// The number of devices that the engine has allotted on this host; empty if the engine does not say.
  std::optional<std::uint32_t> devices;
  /// Where the hosts meet; empty if the engine does not say how other hosts reach host 0.
  std::optional<MeetingPlace> meeting;

  /// A text that distinguishes this job from all other jobs of the same engine, and is the same on all hosts; empty if
  /// the engine has no such text. When the engine starts a job again, processes of the earlier start can still exist,
  /// so only `job` and `restarts` together identify one start.
  std::string job;
  std::uint32_t restarts = 0;  ///< The number of times that the engine has started this job again.

  StopNotice stop;
  /// The program, with its arguments, that puts this job back into the queue; empty if there is none.
  std::vector<std::string> requeue;
  /// True if the engine starts the job again by itself when a process of it fails.
  bool restarts_failures = false;
};

namespace environments {

/// The largest number of hosts that a job can have.
inline constexpr std::uint32_t kMostHosts = 65536;

/// Throws kInvalidArgument if the fields contradict each other: a number that is not smaller than the count it belongs
/// to, a number of names that differs from the number of hosts, a name that occurs twice, or a name that is not
/// allowed. `where` names the environment in the error.
void check_allocation(const Allocation& allocation, const std::string& where);

}  // namespace environments
}  // namespace trainyard
