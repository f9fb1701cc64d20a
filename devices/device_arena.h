// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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
  /// (UpdateRequest::ranges). On a device, the work may still be in progress when the function returns; work that is
  /// submitted to the device later sees the result.
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
  std::vector<UpdateRange> ranges;  ///< The parts that have separate coefficients, in ascending order.
  /// The optimizer's state in host memory: one block for each kind of value that the update rule keeps, such as the
  /// momentum, with the layout of the parameters. The blocks contain the initial values. The device has its own copy of
  /// the state, and writes it to these blocks before a checkpoint is saved.
  std::vector<Tensor> state;
};

/// The arena of one rank (its parameters and gradients) in the memory of a device, as its optimizer sees it. An
/// optimizer in the same process as the accelerator host, the component that computes on the device, finds this object
/// in ArenaInfo::device_arena. If it calls make_update(), the parameters, the gradients and the optimizer's state stay
/// on the device, and no step copies them to the host or back. Otherwise the optimizer works in host memory, so every
/// step copies the gradients to the host and the parameters back.
class DeviceArena {
 public:
  virtual ~DeviceArena() = default;
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  /// Returns the name of the device, such as "cuda:0", for logs.
  virtual std::string device() const = 0;

  /// Returns an object that updates this rank's parameters. From then on, the parameters are copied to host memory only
  /// when a checkpoint is saved or another component reads them. Must be called at most once, and before the optimizer
  /// sends the message Parameters for step 0. Throws kShapeMismatch if a block of the state or a range does not match
  /// the parameters, and kUnsupported for parameters that are not floating-point numbers.
  virtual std::unique_ptr<Update> make_update(const UpdateRequest& request) = 0;

 protected:
  DeviceArena() = default;
};

}  // namespace trainyard::devices
