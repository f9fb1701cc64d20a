// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/update_pass.h"

#include <fmt/format.h>

#include <utility>

#include "messages/error.h"

namespace trainyard::optimizer {

DType state_dtype_of(DType parameters) {
  switch (parameters) {
    case DType::kFloat64:
      return DType::kFloat64;
    case DType::kFloat32:
    case DType::kBFloat16:
    case DType::kFloat16:
      return DType::kFloat32;
    default:
      throw Error(Code::kUnsupported,
                  "the optimizer was given {} parameters; float64, float32, bfloat16 and float16 are supported",
                  name_of(parameters));
  }
}

UpdatePass::UpdatePass(Rule rule, Formula formula, std::vector<Segment> segments, Tensor parameters, Tensor gradients,
                       std::vector<Tensor> state, const KernelSet& kernels)
    : rule_(std::move(rule)),
      formula_(formula),
      segments_(std::move(segments)),
      parameters_(std::move(parameters)),
      gradients_(std::move(gradients)),
      state_(std::move(state)),
      kernels_(kernels) {
  const DType state_dtype = state_dtype_of(parameters_.dtype);
  const auto check_block = [this](const Tensor& block, std::string_view what, DType dtype) {
    if (block.dtype == dtype && block.elements() == parameters_.elements()) return;
    throw Error(Code::kShapeMismatch, "the block of {} is {} {}, that of the parameters {} {}{}", what,
                name_of(block.dtype), to_text(block.shape), name_of(parameters_.dtype), to_text(parameters_.shape),
                dtype == parameters_.dtype ? "" : fmt::format("; it must be {}", name_of(dtype)));
  };
  check_block(gradients_, "gradients", parameters_.dtype);
  const auto names = state_names(formula_);
  if (names.size() != state_.size()) {
    throw Error(Code::kInternal, "rule '{}' has {} state blocks, {} were given", name_of(rule_.kind), names.size(),
                state_.size());
  }
  for (std::size_t i = 0; i < names.size(); ++i) check_block(state_[i], names[i], state_dtype);
}

void UpdatePass::run(const StepInputs& inputs) const {
  switch (parameters_.dtype) {
    case DType::kFloat64:
      return run_as<double>(inputs);
    case DType::kBFloat16:
      return run_as<BFloat16>(inputs);
    case DType::kFloat16:
      return run_as<Float16>(inputs);
    default:
      return run_as<float>(inputs);  // The constructor has let no other type through.
  }
}

template <class T>
void UpdatePass::run_as(const StepInputs& inputs) const {
  const Kernel<T> kernel = kernels_.get<T>(formula_);
  using A = Arithmetic<T>;
  const auto at = [](const Tensor& block, std::uint64_t begin) { return reinterpret_cast<T*>(block.data()) + begin; };
  for (const Segment& segment : segments_) {
    Slices<T> slices{at(parameters_, segment.begin), at(gradients_, segment.begin), {}, segment.count};
    for (std::size_t i = 0; i < state_.size(); ++i) {
      slices.state[i] = reinterpret_cast<A*>(state_[i].data()) + segment.begin;
    }
    StepInputs mine = inputs;
    mine.lr *= segment.lr_scale;
    mine.weight_decay = segment.weight_decay;
    kernel(slices, coefficients<A>(rule_, mine));
  }
}

}  // namespace trainyard::optimizer
