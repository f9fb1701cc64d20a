// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "core/memory/memory_file.h"
#include "core/memory/segment.h"
#include "core/plugin/plugin_context.h"

namespace trainyard::host {

/// Returns a text that identifies the host, or the container, of this process. Processes that get the same text can map
/// each other's memory.
std::string memory_place();

/// Lets the ranks of a host agree on the unit of work after which they pause, without waiting for each other.
///
/// A unit is work that all ranks do together or not at all: a training step, a batch of an evaluation, or a checkpoint.
/// All ranks do the same units in the same order, though not at the same time. Before each unit, a rank calls pass().
/// The first rank that receives an order to pause closes the turnstile. While it is closed, a rank may begin only units
/// that another rank has already begun. So a rank that is behind continues until it has done the same units as the rank
/// that is furthest ahead, and all ranks rest after the same unit.
///
///     pass() ... pass()      one for every unit
///     close()                a pause is wanted; pass() returns false after the last unit
///     reopen()               this rank has come to rest, and prepares the turnstile for the next pause
///
/// The ranks share two 64-bit words of memory, so pass() costs one atomic operation and no message. Before any rank
/// calls close() for a new pause, every rank must have called reopen() for the previous pause. The strategy manager
/// (the component that directs the run) ensures this: it requests a pause only when all ranks have answered the
/// previous one.
class Turnstile {
 public:
  /// Makes the turnstile of a single rank.
  Turnstile();

  /// Joins the turnstile that the ranks share. Rank 0 makes it, and the other ranks wait until it exists. A rank on a
  /// different host than rank 0 cannot share it and gets a separate turnstile, for which close() must not be called.
  /// Throws kTimeout if rank 0 does not make the turnstile within `timeout`.
  Turnstile(const PluginContext& context, std::chrono::milliseconds timeout);

  /// Returns true if this rank may begin its next unit, which then counts as begun.
  bool pass();

  /// Closes the turnstile, which determines the last unit before the pause. Does nothing if another rank has already
  /// closed it.
  void close();

  /// Returns true if the turnstile is closed and this rank has begun the last unit before the pause. Between two units,
  /// this means that the rank has also finished that unit.
  bool at_rest() const;

  /// Prepares the turnstile for the next pause, for this rank only. Call this function between two units, when
  /// at_rest() is true. Afterwards pass() can return true again, so the caller must make the rank rest until the pause
  /// is over.
  void reopen();

 private:
  /// The shared words. Successive pauses use them alternately, because a rank may still rest in a pause that another
  /// rank has already left. A word contains the number of its pause, whether the turnstile is closed, and how many
  /// units the rank that is furthest ahead has begun.
  struct Words {
    std::atomic<std::uint64_t> of_pause[2];
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  std::atomic<std::uint64_t>& word() const { return words_->of_pause[pause_ % 2]; }
  /// Returns `word`, or the initial value for the current pause if `word` is from an earlier pause.
  std::uint64_t current(std::uint64_t word) const;

  core::MemoryFile file_;
  core::Mapping mapping_;
  Words* words_;
  std::uint64_t pause_ = 0;  ///< The number of pauses that this rank has completed.
  std::uint64_t begun_ = 0;  ///< The number of units that this rank has begun.
};

}  // namespace trainyard::host
