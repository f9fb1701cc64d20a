// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "components/optimizer/host_update.h"
#include "components/optimizer/rule.h"
#include "components/optimizer/segments.h"
#include "devices/device_arena.h"

namespace trainyard::optimizer {

/// Returns the description of an update of these segments, from which a devices::Update can be made. `state` contains
/// one block for each of state_names(formula), in this order.
devices::UpdateRequest update_request(Formula formula, const std::vector<Segment>& segments, std::vector<Tensor> state);

/// Updates the parameters of a rank with an update rule, in host memory or on a device. run() allocates no memory on
/// the host.
class UpdatePass {
 public:
  /// `update` must have been made for the same segments and for a formula of the same rule.
  UpdatePass(Rule rule, std::vector<Segment> segments, std::unique_ptr<devices::Update> update);

  /// Makes one update with the gradients, multiplied by `inputs.gradient_scale`, and zeroes them. Each segment has its
  /// own weight decay (which replaces that of `inputs`) and its own factor on the learning rate.
  void run(const StepInputs& inputs);

  const std::vector<Segment>& segments() const { return segments_; }

 private:
  Rule rule_;
  std::vector<Segment> segments_;
  std::unique_ptr<devices::Update> update_;
  /// The coefficients of the current update, one element for each segment.
  std::vector<Coefficients<double>> coefficients_;
};

/// Returns an UpdatePass that updates the block `parameters` with the block `gradients`, both in host memory. `formula`
/// must be a formula of `rule`. `state` contains one block for each of state_names(formula), in this order. Throws what
/// the constructor of HostUpdate throws.
UpdatePass host_pass(const Rule& rule, Formula formula, const std::vector<Segment>& segments, const Tensor& parameters,
                     const Tensor& gradients, const std::vector<Tensor>& state,
                     const KernelSet& kernels = best_kernels());

}  // namespace trainyard::optimizer
