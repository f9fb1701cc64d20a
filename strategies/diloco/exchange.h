// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/state/state.h"
#include "strategies/rank_group.h"

namespace trainyard {

/// An exchange of `diloco` that runs while its rank computes: the ranks average copies of what they send, so everything
/// else may change in the meantime. The copies are in host memory, because only operations on host memory run in the
/// background.
///
/// A checkpoint can be saved between the beginning and the end of an exchange. It then contains the averages.
class Exchange {
 public:
  /// Allocates memory of the collective, so all ranks must construct such an object at the same point. `change` and
  /// `buffers` must have the sizes and types of the tensors that begin() gets. `form` is the type in which changes
  /// travel.
  Exchange(RankGroup& ranks, const at::Tensor& change, const std::vector<at::Tensor>& buffers, at::ScalarType form);

  /// Copies the tensors, and begins to average the copies over the ranks. The copy of `change` has the type `form`.
  void begin(const at::Tensor& change, const std::vector<at::Tensor>& buffers);
  /// Waits until the averages are complete.
  void wait();

  /// Return the averages. They are valid after wait(), or after restore().
  const at::Tensor& change() const { return change_; }
  const std::vector<at::Tensor>& buffers() const { return buffers_; }

  /// Save and restore the averages, which must be complete.
  void save(StateWriter& into) const;
  void restore(const StateReader& from);

 private:
  RankGroup& ranks_;
  at::Tensor change_;
  std::vector<at::Tensor> buffers_;
  std::vector<Work> under_way_;
};

}  // namespace trainyard
