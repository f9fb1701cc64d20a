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

/// A tensor of the module, as the entry "state" of the package's metadata describes it.
struct StateTensor {
  std::vector<std::string> names;  ///< At least one. A tensor that the module uses in several places has several names.
  std::string type;                ///< The name of its type in PyTorch: "float32", "int64", ...
  std::vector<std::int64_t> shape;
  bool trained = false;
};

/// A loaded AOTInductor package: its code, and its constants, which are the tensors that the code reads. use() replaces
/// constants with other tensors.
class Package {
 public:
  /// Loads the package. This runs code from the file. Throws kNotFound if there is no such file, kCorrupt if it is not
  /// a package that this LibTorch can load, and kUnsupported if it was compiled for a device that this LibTorch lacks.
  /// The error begins with `where`.
  Package(const std::string& path, const std::string& where);
  ~Package();

  /// Copies the constants to host memory, and returns the copies by their names in the module. A tensor that has
  /// several names there is listed under the first of them if state() describes the tensors, otherwise under the name
  /// that the compiler has kept.
  std::map<std::string, at::Tensor> constants() const;
  /// Returns the descriptions of the module's tensors from the entry "state" of the metadata, if the package has this
  /// entry.
  const std::optional<std::vector<StateTensor>>& state() const { return state_; }

  /// Lets the code read `tensors` in place of the constants of the same names; see constants(). Tensors with other
  /// names are ignored. The tensors are not copied, so a value that changes later has an effect the next time run() is
  /// called. There is one exception: a package that was compiled with `use_runtime_constant_folding` computes some of
  /// its values from these tensors only once, in the first run() after use() was given tensors in different memory. The
  /// call is cheap if the memory of all tensors is the same as in the previous call. Throws kUnsupported or
  /// kTypeMismatch if the code cannot read a tensor.
  void use(const std::vector<NamedTensor>& tensors);

  /// Computes the output for `input`. Throws kShapeMismatch if the code was compiled for another shape or type, and
  /// kUnsupported if it returns several tensors.
  at::Tensor run(const at::Tensor& input);

 private:
  /// What the code expects of a constant.
  struct Compiled {
    /// One name, unless the compiler keeps several copies of a tensor that has several names in the module.
    std::vector<std::string> names_in_code;
    /// The name of the constant in the package. If the tensor has several names in the module, it can be any of these.
    std::string name_in_package;
    at::ScalarType type = at::kFloat;
    std::vector<std::int64_t> strides;
  };

  void list_constants();
  void read_state();
  void use_first_names();
  void check_usable(const NamedTensor& named, const Compiled& compiled) const;

  std::string path_;
  std::string where_;
  std::string device_;  ///< The kind of device that the code is for: "cpu", "cuda", ...
  std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader_;
  std::map<std::string, Compiled> compiled_;
  std::optional<std::vector<StateTensor>> state_;
  /// The tensors that the code reads, by name. The code has pointers to these objects.
  std::map<std::string, at::Tensor> used_;
};

}  // namespace trainyard::aoti
