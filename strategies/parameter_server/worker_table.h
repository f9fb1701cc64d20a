// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "messages/buffer.h"
#include "strategies/parameter_server/patience.h"

namespace trainyard::parameter_server {

/// What the workers of one server share besides the parameters: whose turn it is to update, how far each worker is, and
/// how many updates were made. The table lies in memory that all workers have mapped, each in a process or on a thread
/// of its own.
///
/// A worker's clock is the number of steps it has ended. A worker begins its next step only when it has the parameters
/// for it, and the table records that moment as well.
///
/// Every wait ends. If the awaited worker has died, the error (kPeerLost) names it; if it does not move for as long as
/// the timeout, the error (kTimeout) names it, too. A slow worker that moves may take its time, and a worker that only
/// waits for others is not blamed. After an error the table cannot be used any more.
class WorkerTable {
 public:
  using Member = parameter_server::Member;

  static std::size_t bytes(std::uint32_t ranks) { return Board::bytes(ranks); }

  /// `memory` must be the same for all members, have `bytes(ranks)`, and be zeroed before the first member comes.
  WorkerTable(Buffer memory, Member self);

  /// Releases the turn if this worker has it. The other workers no longer wait for this one.
  ~WorkerTable();
  WorkerTable(const WorkerTable&) = delete;
  WorkerTable& operator=(const WorkerTable&) = delete;

  /// Acquire and release the exclusive right to access the server's memory.
  void lock();
  void unlock();
  bool is_locked() const;  ///< True if this worker holds it.

  /// Counts one more update, and returns its number, from 1. The worker must have its turn.
  std::uint64_t count_update();
  std::uint64_t updates() const;

  std::uint64_t ended() const;  ///< This worker's clock.
  void end_step();
  /// Records how far behind the slowest worker is. Called when this worker has the parameters of the next step.
  void begin_step();
  /// Returns the most steps that a worker was behind another one that began its next step.
  std::uint64_t widest_spread() const;

  /// Returns true if no worker is more than `steps` behind this worker's clock. A worker that has come to a meeting is
  /// not behind.
  bool is_near(std::uint64_t steps) const;
  void wait_until_near(std::uint64_t steps);

  /// Waits until every worker has begun the step that is `steps` behind the one under way here.
  void wait_until_begun(std::uint64_t steps);

  /// Waits until `rank` has ended more steps than this worker.
  void wait_for_step_of(std::uint32_t rank);

  /// Waits until all workers have called it.
  void meet();

  /// Sets this worker's clock to the most advanced one. Called between two meetings.
  void level();

  /// Returns the workers that wait for others at present.
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
