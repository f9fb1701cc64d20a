#include "components/optimizer/update_pass.h"

#include <utility>

#include "messages/error.h"

namespace trainyard::optimizer {

UpdatePass::UpdatePass(Rule rule, Formula formula, std::vector<Segment> segments, Tensor parameters, Tensor gradients,
                       std::vector<Tensor> state, const KernelSet& kernels)
    : rule_(std::move(rule)),
      formula_(formula),
      segments_(std::move(segments)),
      parameters_(std::move(parameters)),
      gradients_(std::move(gradients)),
      state_(std::move(state)),
      kernels_(kernels) {
  if (parameters_.dtype != DType::kFloat32 && parameters_.dtype != DType::kFloat64) {
    throw Error(Code::kUnsupported, "the optimizer was given {} parameters; float32 and float64 are supported",
                name_of(parameters_.dtype));
  }
  const auto check_block = [this](const Tensor& block, std::string_view what) {
    if (block.dtype == parameters_.dtype && block.elements() == parameters_.elements()) return;
    throw Error(Code::kShapeMismatch, "the block of {} is {} {}, that of the parameters {} {}", what,
                name_of(block.dtype), to_text(block.shape), name_of(parameters_.dtype), to_text(parameters_.shape));
  };
  check_block(gradients_, "gradients");
  const auto names = state_names(formula_);
  if (names.size() != state_.size()) {
    throw Error(Code::kInternal, "rule '{}' has {} state blocks, {} were given", rule_.name, names.size(),
                state_.size());
  }
  for (std::size_t i = 0; i < names.size(); ++i) check_block(state_[i], names[i]);
}

void UpdatePass::run(const StepInputs& inputs) const {
  if (parameters_.dtype == DType::kFloat32) {
    run_as<float>(inputs);
  } else {
    run_as<double>(inputs);
  }
}

template <class T>
void UpdatePass::run_as(const StepInputs& inputs) const {
  const Kernel<T> kernel = kernels_.get<T>(formula_);
  const auto at = [](const Tensor& block, std::uint64_t begin) { return reinterpret_cast<T*>(block.data()) + begin; };
  for (const Segment& segment : segments_) {
    Slices<T> slices{at(parameters_, segment.begin), at(gradients_, segment.begin), {}, segment.count};
    for (std::size_t i = 0; i < state_.size(); ++i) slices.state[i] = at(state_[i], segment.begin);
    StepInputs mine = inputs;
    mine.lr *= segment.lr_scale;
    mine.weight_decay = segment.weight_decay;
    kernel(slices, coefficients<T>(rule_, mine));
  }
}

}  // namespace trainyard::optimizer
