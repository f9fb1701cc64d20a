// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "strategies/strategy.h"

namespace trainyard::testing {

/// Ranks whose gradients the test chooses, in order to see what a strategy does with them. The ranks are threads, each
/// with a model whose derivatives the test gives, an arena and a strategy, but no optimizer. A real collective connects
/// them.
class GivenGradients {
 public:
  /// One tensor for every parameter.
  using Gradients = std::vector<at::Tensor>;

  /// `strategy` is a registered name, `parameters` a JSON object. `shapes` are the shapes of the model's parameters.
  GivenGradients(std::uint32_t ranks, const std::string& strategy, const std::string& parameters,
                 const std::vector<std::vector<std::int64_t>>& shapes);
  ~GivenGradients();

  /// Runs a backward pass on every rank, in which rank r computes the gradients `given[r]`. Returns the gradients that
  /// each rank's arena holds afterwards.
  std::vector<Gradients> reduce(const std::vector<Gradients>& given);

  /// Returns the strategy's stats of the last step on one rank.
  std::vector<Scalar> stats(std::uint32_t rank) const;

 private:
  struct Rank;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace trainyard::testing
