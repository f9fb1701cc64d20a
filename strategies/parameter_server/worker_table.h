// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "messages/buffer.h"
#include "strategies/parameter_server/patience.h"

namespace trainyard::parameter_server {

/// What the workers of one server share besides the parameters: whose turn it is to update, how far each worker is, and
/// how many updates were made. The table is in memory that all workers have mapped, each in a process or on a thread of
/// its own.
///
/// A worker's clock is the number of steps it has ended. A worker begins its next step only when it has the parameters
/// for it, and the table records that moment as well. A meeting is a point at which all workers wait for each other
/// (meet()).
///
/// Every wait ends. If the awaited worker has died, the error (kPeerLost) names it; if it makes no progress for as long
/// as the timeout, the error (kTimeout) names it, too. A slow worker that makes progress never causes a timeout, and a
/// worker that only waits for others is not blamed. After an error the table cannot be used any more.
class WorkerTable {
 public:
  using Member = parameter_server::Member;

  static std::size_t bytes(std::uint32_t ranks) { return Board::bytes(ranks); }

  /// `memory` must be the same for all members, have at least `bytes(ranks)` bytes, and be zeroed before the first
  /// member joins.
  WorkerTable(Buffer memory, Member self);

  /// Releases this worker's turn if it has it. A worker that waits for this one, now or later, gets kPeerLost.
  ~WorkerTable();
  WorkerTable(const WorkerTable&) = delete;
  WorkerTable& operator=(const WorkerTable&) = delete;

  /// Acquire and release this worker's turn: the exclusive right to access the server's memory.
  void lock();
  void unlock();
  bool is_locked() const;  ///< Returns true if this worker has its turn.

  /// Counts one more update, and returns its number, from 1. The worker must have its turn or be the only one that
  /// makes updates.
  std::uint64_t count_update();
  std::uint64_t updates() const;

  std::uint64_t ended() const;  ///< Returns this worker's clock.
  void end_step();              ///< Advances this worker's clock by one step.
  /// Records that this worker begins its next step, and how far behind the slowest worker is. Called when this worker
  /// has the parameters for that step.
  void begin_step();
  /// Returns the largest number of steps by which a worker was behind when another one began its next step.
  std::uint64_t widest_spread() const;

  /// Returns true if no worker is more than `steps` behind this worker's clock. A worker that waits in a meeting which
  /// this one has not reached does not count as behind. wait_until_near() waits until this is so.
  bool is_near(std::uint64_t steps) const;
  void wait_until_near(std::uint64_t steps);

  /// Waits until every worker has begun the step that lies `steps` before this worker's current one. A worker that
  /// waits in a meeting which this one has not reached is exempt.
  void wait_until_begun(std::uint64_t steps);

  /// Waits until `rank` has ended more steps than this worker.
  void wait_for_step_of(std::uint32_t rank);

  /// Waits until all workers have called this function.
  void meet();

  /// Sets this worker's clock to that of the worker that is furthest ahead. Called between two meetings.
  void level();

  /// Returns the workers that are waiting for others now.
  std::vector<std::uint32_t> waiting() const;

 private:
  Board::Worker& own() const { return board_.worker(self_.rank); }
  bool is_away(std::uint32_t rank) const;
  Ranks behind(std::uint64_t ended) const;

  Member self_;
  Board board_;
  Patience patience_;
};

}  // namespace trainyard::parameter_server
