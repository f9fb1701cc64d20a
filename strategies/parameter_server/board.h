#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "messages/buffer.h"

namespace trainyard::parameter_server {

using Ranks = std::vector<std::uint32_t>;

/// The memory that the workers of one server share beside the parameters. All have mapped it, each in a process or on a
/// thread of its own.
class Board {
 public:
  static constexpr std::int32_t kLeft = -1;  ///< In the place of a process: the worker is there no more.

  /// A cache line of its own each: only the worker itself writes there.
  struct alignas(64) Worker {
    std::atomic<std::uint64_t> ended;  ///< Steps.
    std::atomic<std::uint64_t> begun;  ///< Steps before the one that is under way; `ended`, or one less.
    std::atomic<std::uint64_t> meetings;
    std::atomic<std::int32_t> process;  ///< 0: has not come yet.
    std::atomic<std::uint32_t> waits;   ///< 1: for others.
  };

  struct alignas(64) Common {
    std::atomic<std::uint32_t> events;    ///< The futex: changes with everything that somebody may wait for.
    std::atomic<std::uint32_t> sleepers;  ///< A killed one stays counted, which costs system calls only.
    std::atomic<std::uint32_t> holder;    ///< Whose turn it is: rank + 1; 0: nobody's.
    std::atomic<std::uint64_t> updates;
    std::atomic<std::uint64_t> spread;
  };

  static std::size_t bytes(std::uint32_t ranks);

  /// `memory`: the same for all workers, of `bytes(ranks)`, zeroed before the first one came.
  Board(Buffer memory, std::uint32_t ranks);

  std::uint32_t ranks() const { return ranks_; }
  Common& common() const;
  Worker& worker(std::uint32_t rank) const;

  /// Something has changed: whoever sleeps looks again.
  void changed() const;

  /// Until the next event after number `seen`, or for `longest`.
  void sleep(std::uint32_t seen, std::chrono::milliseconds longest) const;

 private:
  Buffer memory_;
  std::uint32_t ranks_;
};

}  // namespace trainyard::parameter_server
