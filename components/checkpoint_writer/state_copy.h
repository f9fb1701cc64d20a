#pragma once

#include <memory>
#include <vector>

#include "checkpoints/run_record.h"
#include "checkpoints/safetensors.h"
#include "components/checkpoint_writer/state_layout.h"
#include "messages/run_state.h"

namespace trainyard {

/// The state of a run at one step, in memory of its own: the run goes on while this is written. Used again and again,
/// so that only the first copy has to take memory.
class StateCopy {
 public:
  /// Copies every block. `layout` must stay as it is until the next copy.
  void take(const StateLayout& layout, const Snapshot& snapshot);

  /// The tensors of a file as views on the copy.
  std::vector<checkpoints::SafetensorsTensor> tensors(const std::vector<StateSlice>& slices) const;

  /// Of the last take(); not before the first.
  const StateLayout& layout() const { return *layout_; }
  const Snapshot& snapshot() const { return snapshot_; }

 private:
  const StateLayout* layout_ = nullptr;
  Snapshot snapshot_;
  std::vector<Buffer> blocks_;
};

}  // namespace trainyard
