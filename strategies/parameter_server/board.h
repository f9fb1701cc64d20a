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
  static constexpr std::int32_t kLeft = -1;  ///< Stands in the place of a process after its worker has left.

  /// Each worker has a cache line of its own, to which only the worker itself writes.
  struct alignas(64) Worker {
    std::atomic<std::uint64_t> ended;  ///< The number of steps that it has ended.
    std::atomic<std::uint64_t> begun;  ///< The number of steps before the one under way: `ended`, or one less.
    std::atomic<std::uint64_t> meetings;
    std::atomic<std::int32_t> process;  ///< The process of the worker; 0 until the worker comes.
    std::atomic<std::uint32_t> waits;   ///< 1 while the worker waits for others.
  };

  struct alignas(64) Common {
    std::atomic<std::uint32_t> events;    ///< The futex, which changes with everything that a worker may wait for.
    std::atomic<std::uint32_t> sleepers;  ///< Includes those that were killed, which costs only system calls.
    std::atomic<std::uint32_t> holder;    ///< The rank that has the turn, plus 1; 0 if no rank has it.
    std::atomic<std::uint64_t> updates;
    std::atomic<std::uint64_t> spread;
  };

  static std::size_t bytes(std::uint32_t ranks);

  /// `memory` must be the same for all workers, have `bytes(ranks)`, and be zeroed before the first worker comes.
  Board(Buffer memory, std::uint32_t ranks);

  std::uint32_t ranks() const { return ranks_; }
  Common& common() const;
  Worker& worker(std::uint32_t rank) const;

  /// Wakes all who sleep, because something has changed.
  void changed() const;

  /// Sleeps until the next event after number `seen`, or for `longest`.
  void sleep(std::uint32_t seen, std::chrono::milliseconds longest) const;

 private:
  Buffer memory_;
  std::uint32_t ranks_;
};

}  // namespace trainyard::parameter_server
