// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace trainyard {

/// The number formats that the parameter `precision` of a launch file selects.
///
/// "true" means that parameters, gradients, batches and computation all have one type. "mixed" means that parameters
/// and gradients stay float32, while LibTorch's autocast computes in 16 bits where that is faster.
struct Precision {
  std::string name;  ///< "32-true", "bf16-mixed", ...
  /// The type of the parameters, the gradients and the floating-point tensors of a batch.
  at::ScalarType parameters = at::kFloat;
  at::ScalarType computation = at::kFloat;  ///< The type of matrix products and convolutions.
  /// True if the loss is scaled, which keeps small gradients from vanishing in float16.
  bool scales_loss = false;

  /// Returns true if computation and parameters have different types, so that autocast is needed.
  bool mixed() const { return computation != parameters; }
};

/// Returns the names of all precisions, widest first: 64-true, 32-true, bf16-mixed, 16-mixed, bf16-true, 16-true.
const std::vector<std::string>& precision_names();

/// Returns precision_names(), followed by the short names 64, 32, bf16 and 16, which PyTorch Lightning also accepts.
/// The last two mean bf16-mixed and 16-mixed.
const std::vector<std::string>& precision_names_and_aliases();

/// Returns the precision with this name or short name. Throws kInvalidArgument, with a list of the allowed names, for
/// any other name.
Precision parse_precision(const std::string& name);

/// Returns `tensor`, converted to the type of the parameters if it holds floating-point numbers of another type.
/// Integers, such as classes and tokens, and bytes are not converted.
at::Tensor with_precision(const at::Tensor& tensor, const Precision& precision);

}  // namespace trainyard
