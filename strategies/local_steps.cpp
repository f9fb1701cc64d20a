#include "strategies/local_steps.h"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "strategies/step_trace.h"

namespace trainyard {

/// Gradients differ between the ranks here, but a step that one of them skips is no step for the others either.
bool LocalSteps::overflow_anywhere(bool here) {
  if (replica().world == nullptr) return here;
  std::uint8_t any = here ? 1 : 0;
  world().all_reduce({&any, DType::kUInt8, 1}, ReduceOp::kMax).wait();
  return any != 0;
}

void LocalSteps::end_update(std::uint64_t step) {
  apart_ = true;
  if (step % static_cast<std::uint64_t>(*every_steps_) == 0) unite_if_apart();
}

void LocalSteps::begin_snapshot() { unite_if_apart(); }

void LocalSteps::unite_if_apart() {
  if (!std::exchange(apart_, false)) return;
  const TraceSpan span(replica().trace, "unite", "communication");
  const at::NoGradGuard no_gradients;
  unite();
}

void LocalSteps::begin_evaluation() {
  if (!apart_) return;
  for (const at::Tensor& tensor : averaged()) own_.push_back(tensor.clone());
  average();
}

void LocalSteps::end_evaluation() {
  const at::NoGradGuard no_gradients;
  const std::vector<at::Tensor> tensors = averaged();
  for (std::size_t i = 0; i < own_.size(); ++i) tensors[i].copy_(own_[i]);
  own_.clear();
}

std::vector<at::Tensor> LocalSteps::averaged() const {
  std::vector<at::Tensor> tensors{arena().parameters()};
  for (const NamedTensor& buffer : model().buffers()) {
    if (at::isFloatingType(buffer.tensor.scalar_type())) tensors.push_back(buffer.tensor.detach().view(-1));
  }
  return tensors;
}

void LocalSteps::average() const {
  if (replica().world == nullptr) return;
  std::vector<Pending> pending;
  for (const at::Tensor& tensor : averaged()) pending.push_back(all_reduce(tensor, ReduceOp::kMean));
  for (Pending& one : pending) one.wait();
}

}  // namespace trainyard
