// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "components/checkpoint_writer/state_copy.h"
#include "components/checkpoint_writer/state_layout.h"
#include "messages/run_state.h"

namespace trainyard {

/// The copies into which snapshots are taken, and the snapshots that wait for a free copy.
///
/// There are two copies: while one is being written, the other can be filled. More copies would only use memory,
/// because each has the size of the whole state. At most one copy is open at a time, which means that the blocks are
/// copied, but the state of other components is still missing. Snapshots are copied in the order of their arrival.
///
///     free -> begin(): open -> finish(): owned by the caller, for writing -> give_back(): free
class StateCopies {
 public:
  StateCopies();

  /// Appends a snapshot to the snapshots that wait.
  void add(Snapshot snapshot) { waiting_.push_back(std::move(snapshot)); }

  /// Returns true if a snapshot waits, a copy is free, and no copy is open.
  bool can_begin() const { return !waiting_.empty() && !free_.empty() && !open_; }

  /// Copies every block for the snapshot that has waited longest, and returns the copy, which is then open. can_begin()
  /// must be true. `layout` must stay alive and unchanged while there are copies that refer to it.
  StateCopy& begin(const StateLayout& layout);

  /// Returns the open copy. There must be one.
  StateCopy& open() { return *open_; }

  /// Returns the open copy and passes its ownership to the caller. No copy is open afterwards.
  std::unique_ptr<StateCopy> finish() { return std::move(open_); }

  /// Makes a copy free again, and releases the states of other components that it refers to.
  void give_back(std::unique_ptr<StateCopy> copy);

  bool all_free() const { return free_.size() == kCopies; }

 private:
  static constexpr std::size_t kCopies = 2;

  std::deque<Snapshot> waiting_;
  std::vector<std::unique_ptr<StateCopy>> free_;
  std::unique_ptr<StateCopy> open_;
};

}  // namespace trainyard
