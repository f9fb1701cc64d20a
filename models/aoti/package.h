// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/model.h"

namespace torch::inductor {
class AOTIModelPackageLoader;
}

namespace trainyard::aoti {

/// A tensor of the module's state dict, as the entry "state" of the package's metadata describes it.
struct StateTensor {
  std::string name;
  std::string type;
  std::vector<std::int64_t> shape;
  bool trained = false;
};

/// A loaded AOTInductor package: its code, and the tensors that its code reads, which are called its constants. Their
/// values can be replaced.
class Package {
 public:
  /// Loads the package, which runs its code. Throws kNotFound, kCorrupt or kUnsupported; the error begins with `where`.
  Package(const std::string& path, const std::string& where);
  ~Package();

  /// Returns copies of the constants in the processor's memory, by the names that they have in the module.
  std::map<std::string, at::Tensor> constants() const;
  /// Returns the description of the module's state, if the package has one. Throws kCorrupt if it cannot be read.
  std::optional<std::vector<StateTensor>> state() const;

  /// Lets the code read `tensors` in place of the constants of the same names. They are not copied, so their values can
  /// change later. Cheap if the memory of all tensors is the same as in the last call. Throws kUnsupported or
  /// kTypeMismatch if the code cannot read a tensor.
  void use(const std::vector<NamedTensor>& tensors);

  /// Computes the only output. Throws kShapeMismatch if the code was compiled for other inputs.
  at::Tensor run(const at::Tensor& input);

 private:
  /// What the code expects of a constant.
  struct Compiled {
    std::string name_in_code;
    at::ScalarType type = at::kFloat;
    std::vector<std::int64_t> strides;
  };

  void list_constants();
  void check_usable(const NamedTensor& named, const Compiled& compiled) const;

  std::string path_;
  std::string where_;
  std::string device_;  ///< The kind of device that the code is for: "cpu", "cuda", ...
  std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader_;
  std::map<std::string, Compiled> compiled_;
  std::map<std::string, at::Tensor> used_;  ///< What the code reads. It has pointers to these tensor objects.
};

}  // namespace trainyard::aoti
