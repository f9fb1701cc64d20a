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

/// The shared memory through which the workers (ranks) of a parameter server coordinate: counters, and a futex for
/// waiting. The workers can be threads or processes.
class Board {
 public:
  static constexpr std::int32_t kLeft = -1;  ///< The value of Worker::process after the worker has left.

  /// The state of one worker. Only this worker writes it, and it has its own cache line.
  struct alignas(64) Worker {
    std::atomic<std::uint64_t> ended;     ///< The number of steps that the worker has ended.
    std::atomic<std::uint64_t> begun;     ///< The value of `ended` when the worker's current step began.
    std::atomic<std::uint64_t> meetings;  ///< How many times the worker has called WorkerTable::meet().
    std::atomic<std::int32_t> process;    ///< The id of the worker's process, 0 before the worker has joined, or kLeft.
    std::atomic<std::uint32_t> waits;     ///< 1 while the worker waits for other workers, otherwise 0.
  };

  /// The state that all workers read and change.
  struct alignas(64) Common {
    /// A futex, which is incremented after every change for which a worker may wait.
    std::atomic<std::uint32_t> events;
    /// The number of sleeping workers. A worker that is killed while it sleeps stays counted. The only consequence is
    /// that the others make unnecessary system calls.
    std::atomic<std::uint32_t> sleepers;
    /// 1 plus the rank that has the turn (the right to access the server's parameters), or 0 if no worker has it.
    std::atomic<std::uint32_t> holder;
    std::atomic<std::uint64_t> updates;  ///< The number of updates that all workers together have made.
    /// The largest lead over the slowest worker, in steps, that any worker has had when it began a step.
    std::atomic<std::uint64_t> spread;
  };

  /// Returns the size of the memory for `ranks` workers.
  static std::size_t bytes(std::uint32_t ranks);

  /// `memory` must be the same shared memory for all workers, have at least `bytes(ranks)` bytes, and be zeroed before
  /// the first worker uses it.
  Board(Buffer memory, std::uint32_t ranks);

  std::uint32_t ranks() const { return ranks_; }
  Common& common() const;
  Worker& worker(std::uint32_t rank) const;

  /// Increments Common::events and wakes all sleeping workers. Must be called after every change for which a worker may
  /// wait.
  void changed() const;

  /// Sleeps until `Common::events` differs from `seen`, but no longer than `longest`, which must be less than a second.
  void sleep(std::uint32_t seen, std::chrono::milliseconds longest) const;

 private:
  Buffer memory_;
  std::uint32_t ranks_;
};

}  // namespace trainyard::parameter_server
