// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/update.h"
#include "messages/device_handle.h"

namespace trainyard::devices {

/// The arena of one rank (its parameters and gradients) in the memory of a device, as its optimizer sees it. An
/// optimizer in the same process as the accelerator host, the component that computes on the device, finds this object
/// in ArenaInfo::device_arena. An optimizer in another process of the same machine makes an OpenedArena from
/// ArenaInfo::shared, if this field is set. If the optimizer calls make_update(), the parameters, the gradients and the
/// optimizer's state stay on the device, and no step copies them to the host or back. Otherwise the optimizer works in
/// host memory, so every step copies the gradients to the host and the parameters back.
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

  /// Returns handles of the blocks with the optimizer's state on the device, in the order of UpdateRequest::state, for
  /// OptimizerState::device_blocks. The accelerator host uses them to save the state and to restore it. Empty before
  /// make_update(). Always empty if the optimizer is in the process of the accelerator host, which then needs no
  /// handles.
  virtual std::vector<BlockHandle> state_handles() const { return {}; }

 protected:
  DeviceArena() = default;
};

}  // namespace trainyard::devices
