// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "devices/block.h"
#include "devices/update_rules.h"
#include "messages/tensor.h"

namespace trainyard::devices {

/// An object that updates the parameters of one rank, which are in the memory of a device or in host memory.
class Update {
 public:
  virtual ~Update() = default;
  Update(const Update&) = delete;
  Update& operator=(const Update&) = delete;

  /// Applies the gradients, and sets them to zero. `coefficients` contains one element for each range of the update
  /// (UpdateRequest::ranges). On a device, the work may still be in progress when the function returns. Operations that
  /// are submitted later to the same stream (see Device::make_update()) see the result; other streams must wait for a
  /// fence.
  virtual void run(std::span<const Coefficients<double>> coefficients) = 0;

 protected:
  Update() = default;
};

/// A contiguous part of the parameters, counted in elements.
struct UpdateRange {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
};

/// What an optimizer specifies when it calls DeviceArena::make_update().
struct UpdateRequest {
  Formula formula = Formula::kSgd;
  std::vector<UpdateRange> ranges;  ///< One range for each set of coefficients, in ascending order.
  /// The optimizer's state in host memory: one block for each kind of value that the update rule keeps, such as the
  /// momentum, with the layout of the parameters. The blocks contain the initial values. The device has its own copy of
  /// the state, and writes it to these blocks before a checkpoint is saved.
  std::vector<Tensor> state;
};

/// The regions of a device's memory on which an update works. All of them have the layout of the parameters.
struct UpdateRegions {
  DType dtype = DType::kFloat32;  ///< The type of the parameters and of the gradients.
  Region parameters;
  Region gradients;
  /// One region for each block of the optimizer's state. The elements are float64 for float64 parameters, otherwise
  /// float32.
  std::vector<Region> state;
};

/// Throws kShapeMismatch if a range of the request is not inside parameters of `elements` elements, or if the number,
/// the types or the sizes of its state blocks do not match these parameters. Throws kUnsupported for parameters that
/// are not floating-point numbers.
void check(const UpdateRequest& request, DType parameters, std::uint64_t elements);

/// Returns the type of the state for parameters of this type: float64 for float64, otherwise float32. Throws
/// kUnsupported for parameters that are not floating-point numbers.
DType state_type_of(DType parameters);

}  // namespace trainyard::devices
