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

/// The memory into which snapshots are copied, and the snapshots that wait for it.
///
/// There are two copies: one is being written and one is free to copy into. More would only hold memory, since each has
/// the size of the whole state. At most one copy is open at a time: its memory is taken, but the state of components is
/// still missing. Snapshots are copied in the order in which they came.
///
///     free -> begin(): open -> finish(): with the caller, who has it written -> give_back(): free
class StateCopies {
 public:
  StateCopies();

  /// Puts a snapshot behind those that wait.
  void add(Snapshot snapshot) { waiting_.push_back(std::move(snapshot)); }

  /// Returns true if a snapshot waits, a copy is free, and none is open.
  bool can_begin() const { return !waiting_.empty() && !free_.empty() && !open_; }

  /// Copies every block for the snapshot that has waited longest, and returns the copy, which is open from then on.
  /// can_begin() must be true, and `layout` must stay as it is while there are copies of it.
  const StateCopy& begin(const StateLayout& layout);

  /// Hands out the open copy.
  std::unique_ptr<StateCopy> finish() { return std::move(open_); }

  /// Takes back a copy that is not needed any more. It lets go of the states of components.
  void give_back(std::unique_ptr<StateCopy> copy);

  bool all_free() const { return free_.size() == kCopies; }

 private:
  static constexpr std::size_t kCopies = 2;

  std::deque<Snapshot> waiting_;
  std::vector<std::unique_ptr<StateCopy>> free_;
  std::unique_ptr<StateCopy> open_;
};

}  // namespace trainyard
