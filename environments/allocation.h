// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// Where the hosts of a run meet: an address of host 0, and the ports at which it can listen.
struct MeetingPlace {
  std::string host;  ///< A name or an address that the other hosts can resolve.
  /// The ports to try, in this order: host 0 listens at the first that is free. If the engine names none, they are
  /// derived from the job (environments/job_ports.h), so that two jobs seldom try the same.
  std::vector<std::uint16_t> ports;
};

/// How an engine tells its processes that they must stop.
struct StopNotice {
  /// Each of these signals means: save a checkpoint and end.
  std::vector<int> signals;
  /// True if the engine sends them to every process that this process has started, too. The launcher then protects the
  /// processes of the run, because it alone decides when they end.
  bool to_all_processes = false;
  /// How long after the signal the engine kills the processes by default; empty if it is unknown.
  std::optional<std::chrono::seconds> grace;
  /// When the engine ends the job, for instance because its time limit is over; empty if it is unknown.
  std::optional<std::chrono::system_clock::time_point> end;
};

/// What an engine has allotted to a run, as one of the processes that the engine has started sees it. Everywhere, a
/// "host" is what the engine treats as one: a machine, a container or a pod.
struct Allocation {
  /// The number of this host among the hosts of the job, from 0. It can be another when the engine starts the job
  /// again.
  std::uint32_t host = 0;
  std::uint32_t hosts = 1;  ///< The number of hosts of the job.
  /// The names of all hosts, in the order of their numbers; empty if the engine does not tell them.
  std::vector<std::string> names;

  /// The number of this process among those that the engine has started on this host for the same run, from 0. If there
  /// are several, process 0 acts for the host.
  std::uint32_t process = 0;
  /// How many processes the engine has started on this host. 1, unless the engine starts one for each device.
  std::uint32_t processes = 1;

  /// How many devices the engine has allotted on this host; empty if the engine does not say.
  std::optional<std::uint32_t> devices;
  std::optional<MeetingPlace> meeting;  ///< Empty if the engine does not say how other hosts reach host 0.

  /// What distinguishes this job from all other jobs of the same engine; the same on all hosts. Empty if the engine has
  /// no such name. Processes of an earlier start can still be there when the engine starts the job again, so only `job`
  /// and `restarts` together name one start.
  std::string job;
  std::uint32_t restarts = 0;  ///< How often the engine has started this job again.

  StopNotice stop;
  /// The program with its arguments that puts this job back into the queue; empty if there is none.
  std::vector<std::string> requeue;
  /// True if the engine starts the job again by itself when a process of it fails.
  bool restarts_failures = false;
};

namespace environments {

/// The largest number of hosts that a job can have.
inline constexpr std::uint32_t kMostHosts = 65536;

/// Throws kInvalidArgument if the parts of the allocation contradict each other: a number that is not smaller than the
/// count, names that are not as many as there are hosts or that occur twice, or a name that cannot be one. `where`
/// names the environment in the error.
void check_allocation(const Allocation& allocation, const std::string& where);

}  // namespace environments
}  // namespace trainyard
