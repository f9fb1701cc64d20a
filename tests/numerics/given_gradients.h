// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "strategies/strategy.h"

namespace trainyard::testing {

/// Ranks whose gradients the test chooses, to see what a strategy makes of them: threads with a model that has the
/// derivatives which it is told, an arena, a strategy, and a real collective between them. No optimizer.
class GivenGradients {
 public:
  /// One tensor for every parameter.
  using Gradients = std::vector<at::Tensor>;

  /// `strategy`: a registered name; `parameters`: a JSON object.
  GivenGradients(std::uint32_t ranks, const std::string& strategy, const std::string& parameters,
                 const std::vector<std::vector<std::int64_t>>& shapes);
  ~GivenGradients();

  /// Returns a backward pass of every rank with its own gradients; returns what is in every rank's arena then.
  std::vector<Gradients> reduce(const std::vector<Gradients>& given);

  /// Of the last step.
  std::vector<Scalar> stats(std::uint32_t rank) const;

 private:
  struct Rank;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace trainyard::testing
