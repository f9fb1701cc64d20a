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

/// Returns a text that identifies the host or container of this process. Two processes with the same text can map each
/// other's memory.
std::string memory_place();

/// The means by which the ranks agree, without waiting for each other, after which unit of work they pause.
///
/// A unit is work that all ranks do together or not at all: a training step, a batch of an evaluation, or a checkpoint.
/// All ranks do the same units in the same order, though not at the same time. Before each unit, a rank calls pass().
/// The first rank that receives a pause closes the turnstile. While it is closed, a rank may begin only units that
/// another rank has already begun. So a rank that is behind continues up to the unit of the foremost rank, and all
/// ranks rest after the same unit.
///
///     pass() ... pass()      one for every unit
///     close()                a pause is wanted; pass() returns false after the last unit
///     reopen()               this rank has come to rest, and passes again from now on
///
/// The ranks share two words of memory, so passing costs one atomic operation and no message. Before any rank calls
/// close() for a new pause, every rank must have called reopen() for the previous pause. The strategy manager ensures
/// this: it requests a pause only when all ranks have answered the previous one.
class Turnstile {
 public:
  /// Makes the turnstile of a single rank.
  Turnstile();

  /// Joins the turnstile that the ranks share. Rank 0 makes it, and the other ranks wait until it exists. A rank that
  /// cannot map the memory of rank 0, because it is on another host, gets a turnstile of its own; it must not be
  /// closed. Throws kTimeout if rank 0 does not make it within `timeout`.
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
  /// The shared words. Pauses use them alternately, because one rank may still be at a pause that another rank has
  /// already left. A word contains the number of its pause, whether the turnstile is closed, and how many units the
  /// foremost rank has begun.
  struct Words {
    std::atomic<std::uint64_t> of_pause[2];
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  std::atomic<std::uint64_t>& word() const { return words_->of_pause[pause_ % 2]; }
  /// Returns `word`, or a fresh word if `word` is left over from an earlier pause.
  std::uint64_t current(std::uint64_t word) const;

  core::MemoryFile file_;
  core::Mapping mapping_;
  Words* words_;
  std::uint64_t pause_ = 0;  ///< The number of pauses that this rank has completed.
  std::uint64_t begun_ = 0;  ///< The number of units that this rank has begun.
};

}  // namespace trainyard::host
