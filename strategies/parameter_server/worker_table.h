// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "messages/buffer.h"
#include "strategies/parameter_server/patience.h"

namespace trainyard::parameter_server {

/// The table through which the workers (ranks) of a parameter server coordinate. It records whose turn it is to update
/// the server's parameters, how many steps each worker has made, and how many updates there have been. It is in shared
/// memory; the workers can be threads or processes.
///
/// A worker's clock is the number of steps that it has ended. A step begins (begin_step()) when the worker has copied
/// the parameters for it, so a worker can be between two steps. A meeting is a point at which all workers wait for each
/// other (meet()).
///
/// All functions that wait throw an error instead of waiting forever: kPeerLost if a worker that they wait for has
/// died, and kTimeout if it makes no progress for the length of the timeout. The error names that worker. A slow worker
/// that makes progress never causes a timeout, and a worker that only waits for others is not blamed. After an error,
/// the table can no longer be used.
class WorkerTable {
 public:
  using Member = parameter_server::Member;

  static std::size_t bytes(std::uint32_t ranks) { return Board::bytes(ranks); }

  /// `memory` must be the same shared memory for all workers, have at least `bytes(ranks)` bytes, and be zeroed before
  /// the first worker constructs its table.
  WorkerTable(Buffer memory, Member self);

  /// Releases the turn if this worker has it. Workers that wait for this worker, now or later, get kPeerLost.
  ~WorkerTable();
  WorkerTable(const WorkerTable&) = delete;
  WorkerTable& operator=(const WorkerTable&) = delete;

  /// Waits until this worker has the turn, that is, the exclusive right to access the server's parameters.
  void lock();
  /// Gives up the turn, so that another worker can get it.
  void unlock();
  bool is_locked() const;  ///< Returns true if this worker has the turn.

  /// Increments the number of updates and returns the new number. The caller must have the turn or be the only worker
  /// that makes updates.
  std::uint64_t count_update();
  /// Returns the number of updates that all workers together have made.
  std::uint64_t updates() const;

  std::uint64_t ended() const;  ///< Returns this worker's clock.
  void end_step();              ///< Advances this worker's clock by one step.
  /// Records that this worker begins its next step, and updates widest_spread(). Call this function when the worker has
  /// copied the parameters for the step.
  void begin_step();
  /// Returns the largest lead over the slowest worker, in steps, that any worker has had when it began a step.
  std::uint64_t widest_spread() const;

  /// Returns true if no worker's clock is more than `steps` behind this worker's clock. A worker that already waits in
  /// a meeting that this worker has not reached does not count, because it makes no more steps before the meeting.
  bool is_near(std::uint64_t steps) const;
  /// Waits until is_near(steps) is true.
  void wait_until_near(std::uint64_t steps);

  /// Waits until every worker has begun the step that is `steps` steps before this worker's current step. A worker that
  /// already waits in a meeting that this worker has not reached does not count.
  void wait_until_begun(std::uint64_t steps);

  /// Waits until `rank` has ended more steps than this worker.
  void wait_for_step_of(std::uint32_t rank);

  /// Waits until all workers have called this function.
  void meet();

  /// Sets this worker's clock to the highest clock of all workers. All workers must call this function between the same
  /// two meetings, so that no worker ends a step in the meantime.
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
