// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/memory/memory_file.h"
#include "core/memory/segment.h"
#include "core/plugin/plugin_context.h"

namespace trainyard::host {

/// A means for the ranks to agree, without waiting for each other, after which unit of work they pause.
///
/// A unit is work that all ranks do together or not at all: a training step, a batch of an evaluation, a checkpoint.
/// All ranks do the same units in the same order, though not at the same time. Each rank calls pass() before it begins
/// a unit. The first rank that receives the order to pause closes the turnstile: afterwards no rank begins a unit that
/// no other rank has begun. A rank that is behind therefore continues up to the unit that the foremost rank has begun,
/// and all ranks come to rest after the same unit.
///
///     pass() ... pass()      one for every unit
///     close()                a pause is wanted; pass() returns false after the last unit
///     reopen()               this rank has come to rest, and passes again from now on
///
/// The ranks share two words of memory, so passing costs one atomic operation and no message. Between a reopen() and
/// the next close() of any rank, every rank must have called reopen(). The strategy manager ensures this: it orders a
/// pause only when all ranks have answered the previous pause.
class Turnstile {
 public:
  /// Makes the turnstile of a single rank.
  Turnstile();

  /// Joins the turnstile of all ranks. Rank 0 makes the shared memory, and the others wait for it. Throws kTimeout if
  /// rank 0 does not make it in time.
  Turnstile(const PluginContext& context, std::chrono::milliseconds timeout);

  /// Returns true if this rank may begin its next unit, which then counts as begun.
  bool pass();

  /// Fixes the last unit before the pause, unless another rank has done so.
  void close();

  /// Returns true if the turnstile is closed and this rank has begun the last unit before the pause.
  bool at_rest() const;

  /// Ends the pause for this rank.
  void reopen();

 private:
  /// One word for each of two consecutive pauses, because one rank may have finished a pause that another rank has not
  /// reached yet. A word contains the number of the pause, whether it is closed, and the number of units that the
  /// foremost rank has begun.
  struct Words {
    std::atomic<std::uint64_t> of_pause[2];
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  std::atomic<std::uint64_t>& word() const { return words_->of_pause[pause_ % 2]; }
  /// Returns `word`, or its initial value for this pause if it still contains an earlier pause.
  std::uint64_t current(std::uint64_t word) const;

  core::MemoryFile file_;
  core::Mapping mapping_;
  Words* words_;
  std::uint64_t pause_ = 0;  ///< The number of pauses that this rank has reached.
  std::uint64_t begun_ = 0;  ///< The number of units that this rank has begun.
};

}  // namespace trainyard::host
