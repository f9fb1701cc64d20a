// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "strategies/parameter_server/board.h"

namespace trainyard::parameter_server {

/// A worker of a server, and the timeout of its waits.
struct Member {
  std::string where;  ///< The beginning of error messages.
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::chrono::milliseconds timeout{60'000};
};

/// The waits of a worker for other workers, which end even if the others do not respond. The error names the worker
/// that has died (kPeerLost) or that has made no progress for as long as the timeout (kTimeout). It does not name
/// workers that only wait for that worker.
class Patience {
 public:
  Patience(const Board& board, const Member& self) : board_(board), self_(self) {}

  /// Waits until `missing` returns an empty list. `missing` must return the workers for which this worker still has to
  /// wait. `purpose` is for error messages, such as "for all workers to meet".
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
