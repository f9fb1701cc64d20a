// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace trainyard {

/// Records the operations that a function submits to a device, and submits them again without calling the function.
/// This saves the CPU time that it takes to submit each operation, which limits the speed of small models on fast
/// devices.
class WorkRecorder {
 public:
  /// A function that submits operations on `inputs` and returns the result. For inputs of the same shapes and types, it
  /// must always submit the same operations, on memory at the same addresses.
  using Work = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

  virtual ~WorkRecorder() = default;
  WorkRecorder(const WorkRecorder&) = delete;
  WorkRecorder& operator=(const WorkRecorder&) = delete;

  /// Returns the result of `work` for `inputs`, which are on the device. The first calls with inputs of the same shapes
  /// and types call `work`. Later calls submit what was recorded, with the values of `inputs`; the result is then valid
  /// until the next call. If `work` cannot be recorded, this function logs the reason once, and calls `work` every
  /// time.
  virtual at::Tensor run(const std::vector<at::Tensor>& inputs, const Work& work) = 0;

 protected:
  WorkRecorder() = default;
};

}  // namespace trainyard
