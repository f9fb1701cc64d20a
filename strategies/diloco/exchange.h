// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/state/state.h"
#include "strategies/rank_group.h"

namespace trainyard {

/// An exchange of the strategy `diloco`, which can run while the rank computes. The ranks average two things: the
/// change in the parameters since the last exchange, and the floating-point buffers. They average copies, so that the
/// originals may change in the meantime. The copies are in host memory, because with most collectives only operations
/// on host memory run in the background.
///
/// If a checkpoint is saved during an exchange, the strategy first waits for the averages, and the checkpoint contains
/// them.
class Exchange {
 public:
  /// Allocates memory with RankGroup::scratch(), so all ranks must construct such objects with the same sizes in the
  /// same order. `change` and `buffers` must have the sizes and types of the tensors that begin() gets. `form` is the
  /// type in which the change is sent.
  Exchange(RankGroup& ranks, const at::Tensor& change, const std::vector<at::Tensor>& buffers, at::ScalarType form);

  /// Copies the tensors, and begins to average the copies over the ranks. The copy of `change` has the type `form`.
  void begin(const at::Tensor& change, const std::vector<at::Tensor>& buffers);
  /// Waits until the averages are complete.
  void wait();

  /// Return the averages. Valid after wait() or restore().
  const at::Tensor& change() const { return change_; }
  const std::vector<at::Tensor>& buffers() const { return buffers_; }

  /// Save and restore the averages. Call save() only when they are complete.
  void save(StateWriter& into) const;
  void restore(const StateReader& from);

 private:
  RankGroup& ranks_;
  at::Tensor change_;
  std::vector<at::Tensor> buffers_;
  std::vector<Work> under_way_;
};

}  // namespace trainyard
