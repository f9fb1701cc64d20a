#pragma once

#include <memory>
#include <vector>

#include "checkpoints/run_record.h"
#include "checkpoints/safetensors.h"
#include "components/checkpoint_writer/state_layout.h"
#include "messages/run_state.h"

namespace trainyard {

/// The state of a run at one step, in memory of its own, so that the run can go on while it is written. It is used
/// again and again, so only the first copy has to allocate memory.
class StateCopy {
 public:
  /// Copies every block. `layout` must not change until the next copy.
  void take(const StateLayout& layout, const Snapshot& snapshot);

  /// The tensors of a file as views on the copy.
  std::vector<checkpoints::SafetensorsTensor> tensors(const std::vector<StateSlice>& slices) const;

  /// The layout of the last take(); not valid before the first.
  const StateLayout& layout() const { return *layout_; }
  const Snapshot& snapshot() const { return snapshot_; }

 private:
  const StateLayout* layout_ = nullptr;
  Snapshot snapshot_;
  std::vector<Buffer> blocks_;
};

}  // namespace trainyard
