// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "messages/buffer.h"

namespace trainyard::parameter_server {

using Ranks = std::vector<std::uint32_t>;

/// The memory that the workers of one server share besides the parameters. All workers have mapped it, each in a
/// process or on a thread of its own.
class Board {
 public:
  static constexpr std::int32_t kLeft = -1;  ///< The value of Worker::process after the worker has left.

  /// The state of one worker, in a cache line to which only this worker writes.
  struct alignas(64) Worker {
    std::atomic<std::uint64_t> ended;     ///< The number of steps that the worker has ended.
    std::atomic<std::uint64_t> begun;     ///< The value of `ended` when the latest step began.
    std::atomic<std::uint64_t> meetings;  ///< The number of meetings that the worker has reached (WorkerTable::meet).
    std::atomic<std::int32_t> process;    ///< The id of the worker's process; 0 until the worker joins.
    std::atomic<std::uint32_t> waits;     ///< 1 while the worker waits for others.
  };

  /// The state that all workers share and change.
  struct alignas(64) Common {
    std::atomic<std::uint32_t> events;  ///< The futex. It changes with everything for which a worker may wait.
    /// The number of sleeping workers. A worker that is killed in its sleep stays counted, which only costs system
    /// calls.
    std::atomic<std::uint32_t> sleepers;
    std::atomic<std::uint32_t> holder;   ///< The rank that has the turn, plus 1; 0 if no rank has it.
    std::atomic<std::uint64_t> updates;  ///< The number of updates made.
    std::atomic<std::uint64_t> spread;   ///< See WorkerTable::widest_spread.
  };

  static std::size_t bytes(std::uint32_t ranks);

  /// `memory` must be the same for all workers, have at least `bytes(ranks)` bytes, and be zeroed before the first
  /// worker joins.
  Board(Buffer memory, std::uint32_t ranks);

  std::uint32_t ranks() const { return ranks_; }
  Common& common() const;
  Worker& worker(std::uint32_t rank) const;

  /// Wakes all sleeping workers. Must be called after every change for which a worker may wait.
  void changed() const;

  /// Sleeps until `Common::events` differs from `seen`, but no longer than `longest`, which must be less than a second.
  void sleep(std::uint32_t seen, std::chrono::milliseconds longest) const;

 private:
  Buffer memory_;
  std::uint32_t ranks_;
};

}  // namespace trainyard::parameter_server
