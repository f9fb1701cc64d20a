// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/agreement.h"

namespace trainyard::collectives {

/// The part of an engine that finds the member that holds up the group. It measures the time since the last progress.
/// Shortly before the timeout it asks all members for a sign of life. At the timeout it starts with the members that
/// the caller waits for, and goes from each member that waits to the member for which that member waits. The last
/// member of such a chain holds up the others.
///
/// Time in which this process was stopped, for instance by Ctrl-Z, does not count, because the other processes may have
/// been stopped at the same time.
class Blame {
 public:
  using Clock = std::chrono::steady_clock;

  /// If more time than this passes between two checks, the process is assumed to have been stopped in between.
  static constexpr std::chrono::seconds kStopped{5};

  /// `own` is the index of this member, `members` is the number of members, and `timeout` is how long the group may
  /// go without progress.
  Blame(Attendance& attendance, std::uint32_t own, std::uint32_t members, std::chrono::milliseconds timeout);

  /// The operation that the caller waits for, and signs of progress.
  struct Signs {
    std::uint64_t waited = 0;  ///< The number of the operation that the caller waits for.
    std::uint64_t held = 0;    ///< The number of the unfinished operation that holds up `waited`, or `waited` itself.
    std::uint64_t count = 0;   ///< A number that changes whenever there is progress.
    friend bool operator==(const Signs&, const Signs&) = default;
  };

  /// Checks the clock once. There has been progress if `signs` differs from the `signs` of the previous call. Returns
  /// the members to blame if there has been no progress for the length of the timeout, otherwise an empty list.
  /// `candidates` are the members that the caller waits for.
  std::vector<std::uint32_t> look(const Signs& signs, const std::vector<std::uint32_t>& candidates,
                                  Clock::time_point now = Clock::now());

  /// Restarts the measurement of the time without progress.
  void start_again() { since_.reset(); }

  /// Asks all other members for a sign of life. When had_time() returns true, unanswered() returns the members that did
  /// not answer.
  void probe(Clock::time_point now = Clock::now());
  /// Returns true if enough time has passed since the last probe for all members to answer.
  bool had_time(Clock::time_point now = Clock::now()) const;
  /// Returns the other members that have not answered the last probe.
  std::vector<std::uint32_t> unanswered() const;

 private:
  // Excludes the time in which this process was stopped from the measurement.
  void leave_out_stop(Clock::time_point now);
  std::vector<std::uint32_t> verdict(const std::vector<std::uint32_t>& candidates) const;
  std::optional<std::uint32_t> culprit(std::uint32_t candidate) const;

  Attendance& attendance_;
  const std::uint32_t own_;
  const std::uint32_t members_;
  const std::chrono::milliseconds timeout_;
  const std::chrono::milliseconds grace_;
  Signs last_;
  std::optional<Clock::time_point> looked_;  ///< The time of the last check.
  std::optional<Clock::time_point> since_;   ///< The time of the last progress.
  std::optional<Clock::time_point> probed_;  ///< The time of the last probe.
};

}  // namespace trainyard::collectives
