// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "strategies/strategy.h"

namespace trainyard::testing {

/// Several ranks whose gradients the test chooses, so that it can examine what a strategy does with them. The ranks are
/// threads. Each has a model, an arena and a strategy, but no optimizer; the model's backward pass produces the chosen
/// gradients. A real collective connects them.
class GivenGradients {
 public:
  /// The gradients of one rank: one tensor for every parameter.
  using Gradients = std::vector<at::Tensor>;

  /// `strategy` is the name of the plugin, and `parameters` is a JSON object with its parameters. `shapes` are the
  /// shapes of the model's parameters.
  GivenGradients(std::uint32_t ranks, const std::string& strategy, const std::string& parameters,
                 const std::vector<std::vector<std::int64_t>>& shapes);
  ~GivenGradients();

  /// Runs a backward pass on every rank, in which rank r computes the gradients `given[r]`. Returns the gradients that
  /// each rank has after the strategy has reduced them. In between, the gradients are multiplied by `loss_scale`, which
  /// must be a power of two; the arguments and the result do not contain this factor.
  std::vector<Gradients> reduce(const std::vector<Gradients>& given, double loss_scale = 1);

  /// Returns the state that one rank's strategy would save in a checkpoint.
  std::vector<SavedState> save(std::uint32_t rank) const;

  /// Returns the statistics of one rank's strategy for the last step.
  std::vector<Scalar> stats(std::uint32_t rank) const;

 private:
  struct Rank;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace trainyard::testing
