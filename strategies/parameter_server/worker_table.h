#pragma once

#include <cstdint>
#include <vector>

#include "messages/buffer.h"
#include "strategies/parameter_server/patience.h"

namespace trainyard::parameter_server {

/// What the workers of one server share beside the parameters: whose turn it is to update, how far each of them is, and
/// how many updates were made. Lies in memory that all have mapped, each in a process or on a thread of its own.
///
/// A worker's clock is the number of steps it has ended. It begins its next step only when it has the parameters for
/// it; that moment is told as well.
///
/// Nothing waits without end; see Patience. After an error the table is of no use any more.
class WorkerTable {
 public:
  using Member = parameter_server::Member;

  static std::size_t bytes(std::uint32_t ranks) { return Board::bytes(ranks); }

  /// `memory`: the same for all members, of `bytes(ranks)`, zeroed before the first one came.
  WorkerTable(Buffer memory, Member self);

  /// Gives back what it has, and is not waited for any more.
  ~WorkerTable();
  WorkerTable(const WorkerTable&) = delete;
  WorkerTable& operator=(const WorkerTable&) = delete;

  /// The turn to touch what the server has: one worker's at a time.
  void lock();
  void unlock();
  bool is_locked() const;  ///< By this worker.

  /// Counts one more update, in one's turn; its number, from 1.
  std::uint64_t count_update();
  std::uint64_t updates() const;

  std::uint64_t ended() const;  ///< The own clock.
  void end_step();
  /// The parameters of the next step are here. Records how far behind the slowest worker is now.
  void begin_step();
  /// The most steps that a worker was behind another one that began its next.
  std::uint64_t widest_spread() const;

  /// True if no worker is more than `steps` behind the own clock. One that has come to a meeting is not behind.
  bool is_near(std::uint64_t steps) const;
  void wait_until_near(std::uint64_t steps);

  /// Waits until every worker has begun the step that is `steps` behind the one that is under way here.
  void wait_until_begun(std::uint64_t steps);

  /// Waits until `rank` has ended more steps than this worker.
  void wait_for_step_of(std::uint32_t rank);

  /// Returns when all workers have come.
  void meet();

  /// Sets the own clock to the most advanced one; between two meetings.
  void level();

  /// Who waits for others at present.
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
