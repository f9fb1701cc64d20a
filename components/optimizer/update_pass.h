// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "components/optimizer/kernels.h"
#include "components/optimizer/rule.h"
#include "components/optimizer/segments.h"
#include "messages/arena.h"

namespace trainyard::optimizer {

/// Returns the type of the state for parameters of this type: the same dtype, or float32 for halves, which are not
/// precise enough for running averages. Throws kUnsupported for types that the optimizer cannot update.
DType state_dtype_of(DType parameters);

/// The update of the flat blocks of an arena by a rule, in place. The object keeps references to the blocks, and run()
/// allocates nothing.
class UpdatePass {
 public:
  /// `state` contains one block for each of state_names(formula), in this order. Each block has the layout of the
  /// parameters. Throws kUnsupported for a dtype that state_dtype_of() refuses, and kShapeMismatch if the sizes of the
  /// blocks differ.
  UpdatePass(Rule rule, Formula formula, std::vector<Segment> segments, Tensor parameters, Tensor gradients,
             std::vector<Tensor> state, const KernelSet& kernels = best_kernels());

  /// Applies the gradients, multiplied by `inputs.gradient_scale`, and zeroes them. Each segment has its own weight
  /// decay and its own factor on the learning rate.
  void run(const StepInputs& inputs) const;

  const std::vector<Segment>& segments() const { return segments_; }

 private:
  template <class T>
  void run_as(const StepInputs& inputs) const;

  Rule rule_;
  Formula formula_;
  std::vector<Segment> segments_;
  Tensor parameters_;
  Tensor gradients_;
  std::vector<Tensor> state_;
  const KernelSet& kernels_;
};

}  // namespace trainyard::optimizer
