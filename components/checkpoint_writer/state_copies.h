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

/// Manages the two objects of type StateCopy (here called copies) into which the state of the run is copied for
/// checkpoints, and the snapshots that wait for a free copy.
///
/// While one copy is being written to disk, the other can be filled. More copies would need too much memory, because
/// each has the size of the whole state. A copy is called open when the blocks have been copied but the state of other
/// components is still missing. At most one copy is open at a time. Snapshots are copied in the order of their arrival.
///
///     free -> begin(): open -> finish(): owned by the caller, for writing -> give_back(): free
class StateCopies {
 public:
  StateCopies();

  /// Adds a snapshot to those that wait for a free copy.
  void add(Snapshot snapshot) { waiting_.push_back(std::move(snapshot)); }

  /// Returns true if a snapshot is waiting, a copy is free, and no copy is open.
  bool can_begin() const { return !waiting_.empty() && !free_.empty() && !open_; }

  /// Copies all blocks of memory for the snapshot that has waited longest, and returns the copy, which is then open.
  /// can_begin() must be true. `layout` must stay alive and unchanged as long as the copy is used.
  StateCopy& begin(const StateLayout& layout);

  /// Returns the open copy. There must be one.
  StateCopy& open() { return *open_; }

  /// Returns the open copy and passes its ownership to the caller. No copy is open afterwards.
  std::unique_ptr<StateCopy> finish() { return std::move(open_); }

  /// Makes a copy free again, and releases the components' states that it contains.
  void give_back(std::unique_ptr<StateCopy> copy);

  bool all_free() const { return free_.size() == kCopies; }

 private:
  static constexpr std::size_t kCopies = 2;

  std::deque<Snapshot> waiting_;
  std::vector<std::unique_ptr<StateCopy>> free_;
  std::unique_ptr<StateCopy> open_;
};

}  // namespace trainyard
