// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "components/optimizer/host_update.h"
#include "components/optimizer/rule.h"
#include "components/optimizer/segments.h"
#include "devices/device_arena.h"

namespace trainyard::optimizer {

/// Returns the request for an update of these segments. `state` contains one block for each of state_names(formula), in
/// this order.
devices::UpdateRequest update_request(Formula formula, const std::vector<Segment>& segments, std::vector<Tensor> state);

/// The update of the parameters of an arena by a rule, in host memory or on a device. run() allocates no memory on the
/// host.
class UpdatePass {
 public:
  /// `update` was made for the ranges of these segments.
  UpdatePass(Rule rule, std::vector<Segment> segments, std::unique_ptr<devices::Update> update);

  /// Applies the gradients, multiplied by `inputs.gradient_scale`, and zeroes them. Each segment has its own weight
  /// decay and its own factor on the learning rate.
  void run(const StepInputs& inputs);

  const std::vector<Segment>& segments() const { return segments_; }

 private:
  Rule rule_;
  std::vector<Segment> segments_;
  std::unique_ptr<devices::Update> update_;
  std::vector<Coefficients<double>> coefficients_;  ///< The coefficients of a step, one element for each segment.
};

/// Returns the pass over blocks in host memory. `state` contains one block for each of state_names(formula), in this
/// order. Throws what HostUpdate::HostUpdate throws.
UpdatePass host_pass(const Rule& rule, Formula formula, const std::vector<Segment>& segments, const Tensor& parameters,
                     const Tensor& gradients, const std::vector<Tensor>& state,
                     const KernelSet& kernels = best_kernels());

}  // namespace trainyard::optimizer
