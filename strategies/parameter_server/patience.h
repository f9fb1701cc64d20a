// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "strategies/parameter_server/board.h"

namespace trainyard::parameter_server {

/// Identifies one of the workers (ranks) that use a parameter server, and contains the timeout for its waits.
struct Member {
  std::string where;  ///< The beginning of this worker's error messages.
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::chrono::milliseconds timeout{60'000};
};

/// Makes a worker wait for other workers, but not forever. If a worker that is waited for has died, wait() throws
/// kPeerLost; if it has made no progress for the length of the timeout, wait() throws kTimeout. The error names the
/// worker that has died or stopped making progress, but not workers that merely wait for it.
class Patience {
 public:
  Patience(const Board& board, const Member& self) : board_(board), self_(self) {}

  /// Waits until `missing` returns an empty list. `missing` must return the workers for which this worker still has to
  /// wait; it is called repeatedly. `purpose` completes the error message, such as "for all workers to meet".
  void wait(const std::string& purpose, const std::function<Ranks()>& missing) const;

 private:
  class Waiting;
  class Watch;

  Ranks culprits(const Ranks& missing) const;
  std::uint64_t progress_of(std::uint32_t rank) const;
  void refuse_the_dead(const std::string& purpose, const Ranks& missing) const;
  void refuse_the_still(const std::string& purpose, const Watch& watch, const Ranks& missing) const;
  std::string names(const Ranks& ranks) const;

  const Board& board_;
  const Member& self_;
};

}  // namespace trainyard::parameter_server
