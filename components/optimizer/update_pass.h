#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "components/optimizer/kernels.h"
#include "components/optimizer/rule.h"
#include "components/optimizer/segments.h"
#include "messages/arena.h"

namespace trainyard::optimizer {

/// What the state of such parameters is kept in: their own dtype, but float32 for halves, whose few bits would let
/// averages stand still. Throws kUnsupported for what the optimizer cannot update.
DType state_dtype_of(DType parameters);

/// One step of a rule over the flat blocks of an arena, in place. Keeps references to the blocks; takes no memory.
class UpdatePass {
 public:
  /// `state`: the blocks of state_names(formula), laid out like the parameters, element for element. Throws
  /// kUnsupported for a dtype that state_dtype_of refuses, kShapeMismatch where blocks differ.
  UpdatePass(Rule rule, Formula formula, std::vector<Segment> segments, Tensor parameters, Tensor gradients,
             std::vector<Tensor> state, const KernelSet& kernels = best_kernels());

  /// Applies the gradients, times `inputs.gradient_scale`, and zeroes them. The weight decay and the factor on the
  /// learning rate are those of the segments.
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
