#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace trainyard {

/// What `precision` of a launch file means for tensors.
///
/// "true": parameters, gradients, batches and computation are all of one type. "mixed": parameters and gradients stay
/// float32, and LibTorch's autocast lets the operations that gain from it compute in 16 bits.
struct Precision {
  std::string name;                         ///< "32-true", "bf16-mixed", ...
  at::ScalarType parameters = at::kFloat;   ///< Of the arena; floating tensors of a batch are made the same.
  at::ScalarType computation = at::kFloat;  ///< Of matrix products and convolutions.
  bool scales_loss = false;                 ///< Gradients would vanish below the smallest number of the type.

  /// True if computation and parameters differ, so that autocast stands between them.
  bool mixed() const { return computation != parameters; }
};

/// All names, widest first: 64-true, 32-true, bf16-mixed, 16-mixed, bf16-true, 16-true.
const std::vector<std::string>& precision_names();

/// Those and the short ones that Lightning knows: 64, 32, bf16, 16 (the last two mean mixed).
const std::vector<std::string>& precision_names_and_aliases();

/// Throws kInvalidArgument, naming what is allowed.
Precision parse_precision(const std::string& name);

/// `tensor` in the type of the parameters if it holds floating-point numbers of another one; class numbers, token
/// numbers and bytes stay what they are.
at::Tensor with_precision(const at::Tensor& tensor, const Precision& precision);

}  // namespace trainyard
