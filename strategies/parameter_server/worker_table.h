// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "messages/buffer.h"
#include "strategies/parameter_server/patience.h"

namespace trainyard::parameter_server {

/// The table through which the workers of one server coordinate. It records whose turn it is to update, how far each
/// worker is, and how many updates were made. It is in memory that all workers have mapped, each in a process or on a
/// thread of its own.
///
/// A worker's clock is the number of steps that it has ended. A worker begins its next step only when it has the
/// parameters for this step, and the table also records that moment. A meeting is a point at which all workers wait for
/// each other (meet()).
///
/// No wait is endless. If a worker that is waited for has died, the error is kPeerLost; if it makes no progress for as
/// long as the timeout, the error is kTimeout. Both name that worker. A slow worker that makes progress never causes a
/// timeout, and a worker that only waits for others is not blamed. After an error the table can no longer be used.
class WorkerTable {
 public:
  using Member = parameter_server::Member;

  static std::size_t bytes(std::uint32_t ranks) { return Board::bytes(ranks); }

  /// `memory` must be the same for all members, have at least `bytes(ranks)` bytes, and be zeroed before the first
  /// member joins.
  WorkerTable(Buffer memory, Member self);

  /// Releases the turn if this worker has it. A worker that waits for this one, now or later, gets kPeerLost.
  ~WorkerTable();
  WorkerTable(const WorkerTable&) = delete;
  WorkerTable& operator=(const WorkerTable&) = delete;

  /// Waits until this worker has the turn: the exclusive right to access the server's memory.
  void lock();
  /// Releases the turn, so that another worker can have it.
  void unlock();
  bool is_locked() const;  ///< Returns true if this worker has the turn.

  /// Adds one to the number of updates and returns the new number. The worker must have the turn or be the only one
  /// that makes updates.
  std::uint64_t count_update();
  std::uint64_t updates() const;

  std::uint64_t ended() const;  ///< Returns this worker's clock.
  void end_step();              ///< Advances this worker's clock by one step.
  /// Records that this worker begins its next step, and by how many steps the slowest worker is behind. Called when
  /// this worker has the parameters for the step.
  void begin_step();
  /// Returns the largest lead, in steps, that a worker has ever had over the slowest worker when it began a step.
  std::uint64_t widest_spread() const;

  /// Returns true if no worker is more than `steps` behind this worker's clock. A worker that waits in a meeting which
  /// this worker has not reached does not count as behind.
  bool is_near(std::uint64_t steps) const;
  /// Waits until is_near(steps) is true.
  void wait_until_near(std::uint64_t steps);

  /// Waits until every worker has begun a step that is at most `steps` before this worker's current step. A worker that
  /// waits in a meeting which this worker has not reached is exempt.
  void wait_until_begun(std::uint64_t steps);

  /// Waits until `rank` has ended more steps than this worker.
  void wait_for_step_of(std::uint32_t rank);

  /// Waits until all workers have called this function.
  void meet();

  /// Sets this worker's clock to the highest clock of all workers. Called between two meetings.
  void level();

  /// Returns the workers that currently wait for others.
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
