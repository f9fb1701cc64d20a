#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/agreement.h"

namespace trainyard::collectives {

/// Finds out which member is silent and which merely waits. It measures how long nothing has moved. Shortly before the
/// timeout it asks all members for a sign of life, and at the timeout it follows their answers, beginning with each
/// member that is waited for: a member that waits for another one is not to blame.
class Blame {
 public:
  using Clock = std::chrono::steady_clock;

  Blame(Attendance& attendance, std::uint32_t own, std::uint32_t members, std::chrono::milliseconds timeout);

  /// What is waited for, and everything that shows that it goes on.
  struct Signs {
    std::uint64_t waited = 0;  ///< The operation for which the caller waits.
    std::uint64_t held = 0;    ///< The operation that holds it up.
    std::uint64_t count = 0;   ///< Changes whenever something moves.
    friend bool operator==(const Signs&, const Signs&) = default;
  };

  /// Looks at the clock once. Returns the members to blame if nothing has moved for the timeout, and none before that.
  /// `candidates` are the members that are waited for.
  std::vector<std::uint32_t> look(const Signs& signs, const std::vector<std::uint32_t>& candidates);

  /// Starts the measurement again, because something has moved or nothing is waited for.
  void start_again() { since_.reset(); }

  /// Asks all members for a sign of life, which unanswered() evaluates later.
  void probe();
  /// True when members have had enough time to answer.
  bool had_time() const;
  /// The other members that have not answered.
  std::vector<std::uint32_t> unanswered() const;

 private:
  std::vector<std::uint32_t> verdict(const std::vector<std::uint32_t>& candidates) const;
  std::optional<std::uint32_t> culprit(std::uint32_t candidate) const;

  Attendance& attendance_;
  const std::uint32_t own_;
  const std::uint32_t members_;
  const std::chrono::milliseconds timeout_;
  const std::chrono::milliseconds grace_;
  Signs last_;
  std::optional<Clock::time_point> since_;   ///< Since when nothing has moved.
  std::optional<Clock::time_point> probed_;  ///< When signs of life were asked for.
};

}  // namespace trainyard::collectives
