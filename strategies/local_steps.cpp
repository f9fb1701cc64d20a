// SPDX-License-Identifier: Apache-2.0
#include "strategies/local_steps.h"

#include <ATen/core/grad_mode.h>

#include <utility>

namespace trainyard {

/// An evaluation with the means of the ranks' parameters and buffers. end() restores each rank's own values.
class LocalSteps::OfTheMean final : public Evaluation {
 public:
  OfTheMean(const LocalSteps& strategy, ArenaEdit& edit) : strategy_(strategy) {
    for (const at::Tensor& tensor : strategy_.averaged(edit)) own_.push_back(tensor.clone());
    strategy_.average(edit);
  }

  void end(ArenaEdit& edit) override {
    const at::NoGradGuard no_gradients;
    const std::vector<at::Tensor> tensors = strategy_.averaged(edit);
    for (std::size_t i = 0; i < own_.size(); ++i) tensors[i].copy_(own_[i]);
  }

 private:
  const LocalSteps& strategy_;
  std::vector<at::Tensor> own_;
};

void LocalSteps::after_update(std::uint64_t step, ArenaEdit& edit) {
  apart_ = true;
  if (step % static_cast<std::uint64_t>(*every_steps_) == 0) unite_if_apart(edit);
}

void LocalSteps::unite_if_apart(ArenaEdit& edit) {
  if (!std::exchange(apart_, false)) return;
  const TraceSpan span(trace(), "unite", SpanKind::kCollective);
  const at::NoGradGuard no_gradients;
  unite(edit);
}

std::unique_ptr<Evaluation> LocalSteps::make_evaluation(ArenaEdit& edit) {
  if (apart_) return std::make_unique<OfTheMean>(*this, edit);
  return std::make_unique<Evaluation>();
}

std::vector<at::Tensor> LocalSteps::averaged(ArenaEdit& edit) const {
  std::vector<at::Tensor> tensors{edit.parameters()};
  for (const NamedTensor& buffer : model().buffers()) {
    if (at::isFloatingType(buffer.tensor.scalar_type())) tensors.push_back(buffer.tensor.detach().view(-1));
  }
  return tensors;
}

void LocalSteps::average(ArenaEdit& edit) const {
  std::vector<Work> under_way;
  for (const at::Tensor& tensor : averaged(edit)) under_way.push_back(world().all_reduce(tensor, ReduceOp::kMean));
  for (Work& work : under_way) work.wait();
}

}  // namespace trainyard
