// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "checkpoints/run_record.h"
#include "checkpoints/safetensors.h"
#include "components/checkpoint_writer/shared_checkpoint.h"
#include "components/checkpoint_writer/state_layout.h"
#include "messages/run_state.h"

namespace trainyard {

/// A copy of the state of a run at one step, so that training can continue while the state is written. Only the first
/// take() allocates memory; later calls reuse it.
class StateCopy {
 public:
  /// Copies all blocks of memory of `layout`, except pieces on other hosts, for which place() must be called later.
  /// Stores `snapshot`, too. This object keeps a pointer to `layout`, which must stay alive and unchanged until the
  /// next take().
  void take(const StateLayout& layout, const Snapshot& snapshot);

  /// Copies bytes that have arrived from another host to their place in this copy. `place` identifies the rank and the
  /// block from which the bytes come, and `begin` is their offset in this block. Throws kCorrupt if the layout does not
  /// contain these bytes.
  void place(const BlockPlace& place, std::size_t begin, std::span<const std::byte> bytes);

  /// Releases the components' states in the snapshot, whose tensors can refer to the memory of these components. Also
  /// removes the files of a shared checkpoint that has not been published.
  void forget_states() {
    shared_.reset();
    snapshot_.states.clear();
  }

  /// Adds components' states that have arrived after take().
  void add(std::vector<SavedState> states);

  /// Returns the tensors of a checkpoint file, one for each slice, as views of the copied blocks.
  std::vector<checkpoints::SafetensorsTensor> tensors(const std::vector<StateSlice>& slices) const;

  /// Returns the files of the checkpoint, if other hosts write into them, too; null if this host writes all of them.
  SharedCheckpoint* shared() const { return shared_.get(); }
  void share(std::unique_ptr<SharedCheckpoint> shared) { shared_ = std::move(shared); }

  /// Returns the layout that was passed to the most recent take(), which must have been called at least once.
  const StateLayout& layout() const { return *layout_; }
  const Snapshot& snapshot() const { return snapshot_; }
  /// Returns the tensors of all states as views, which are valid until take() or forget_states() is called.
  std::vector<checkpoints::SafetensorsTensor> state_tensors() const;

 private:
  const StateLayout* layout_ = nullptr;
  Snapshot snapshot_;
  std::vector<Buffer> blocks_;
  std::unique_ptr<SharedCheckpoint> shared_;
};

}  // namespace trainyard
