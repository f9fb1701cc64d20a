// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/agreement.h"

namespace trainyard::collectives {

/// Finds the member that holds up a group of ranks while the caller (the thread that uses the collective) waits for an
/// operation. Blame measures the time since the last progress. Shortly before the timeout, it asks all members whether
/// they are alive and whom they wait for. At the timeout, it follows these answers: it starts with the members that the
/// caller waits for, and goes from each waiting member to the member that it waits for. The last member of such a
/// chain is to blame.
///
/// Time during which this process was stopped, for instance by Ctrl-Z, does not count, because the other processes may
/// have been stopped, too.
class Blame {
 public:
  using Clock = std::chrono::steady_clock;

  /// If more time than this passes between two calls to look(), the process is assumed to have been stopped in between.
  static constexpr std::chrono::seconds kStopped{5};

  /// `own` is the index of the member that the object belongs to, `members` is the number of members, and `timeout` is
  /// how long the group may go without progress.
  Blame(Attendance& attendance, std::uint32_t own, std::uint32_t members, std::chrono::milliseconds timeout);

  /// What look() compares in order to detect progress.
  struct Signs {
    std::uint64_t waited = 0;  ///< The number of the operation that the caller waits for.
    /// The number of the unfinished operation that holds up `waited`. It is `waited` itself if no other operation holds
    /// it up.
    std::uint64_t held = 0;
    std::uint64_t count = 0;  ///< A number that changes whenever any member makes progress.
    friend bool operator==(const Signs&, const Signs&) = default;
  };

  /// Call this function repeatedly while the caller waits. If `signs` differs from that of the previous call, there has
  /// been progress, and the measurement restarts. Returns the members to blame if there has been no progress for the
  /// length of the timeout, otherwise an empty list. `candidates` are the members that the caller waits for. Only tests
  /// pass `now`.
  std::vector<std::uint32_t> look(const Signs& signs, const std::vector<std::uint32_t>& candidates,
                                  Clock::time_point now = Clock::now());

  /// Restarts the measurement of the time without progress.
  void start_again() { since_.reset(); }

  /// Asks all other members whether they are alive, without waiting for the answers; once had_time() returns true,
  /// unanswered() gives the result. look() calls this function itself before the timeout. Other callers need it only to
  /// find lost members at another time, for example when a library has failed.
  void probe(Clock::time_point now = Clock::now());
  /// Returns true if enough time has passed since the last probe() for every live member to have answered.
  bool had_time(Clock::time_point now = Clock::now()) const;
  /// Returns the other members that have not answered the last probe().
  std::vector<std::uint32_t> unanswered() const;

 private:
  // If this process has been stopped since the last check, excludes that time from the measurement.
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
