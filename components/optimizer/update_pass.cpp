// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/update_pass.h"

#include <utility>

namespace trainyard::optimizer {

devices::UpdateRequest update_request(Formula formula, const std::vector<Segment>& segments,
                                      std::vector<Tensor> state) {
  devices::UpdateRequest request{.formula = formula, .ranges = {}, .state = std::move(state)};
  for (const Segment& segment : segments) request.ranges.push_back({segment.begin, segment.count});
  return request;
}

UpdatePass::UpdatePass(Rule rule, std::vector<Segment> segments, std::unique_ptr<devices::Update> update)
    : rule_(std::move(rule)),
      segments_(std::move(segments)),
      update_(std::move(update)),
      coefficients_(segments_.size()) {}

void UpdatePass::run(const StepInputs& inputs) {
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    StepInputs mine = inputs;
    mine.lr *= segments_[i].lr_scale;
    mine.weight_decay = segments_[i].weight_decay;
    coefficients_[i] = coefficients(rule_, mine);
  }
  update_->run(coefficients_);
}

UpdatePass host_pass(const Rule& rule, Formula formula, const std::vector<Segment>& segments, const Tensor& parameters,
                     const Tensor& gradients, const std::vector<Tensor>& state, const KernelSet& kernels) {
  return {rule, segments,
          std::make_unique<HostUpdate>(update_request(formula, segments, state), parameters, gradients, kernels)};
}

}  // namespace trainyard::optimizer
