// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/device_arena.h"
#include "messages/arena.h"
#include "tensors/mirrored_block.h"
#include "tensors/update_fences.h"

namespace trainyard {

/// The arena of one rank (its parameters and gradients) on a device that LibTorch supports. The device plugin
/// (DeviceMemory::native) updates the parameters; if there is none, LibTorch's operations do (make_tensor_update()).
///
/// An optimizer in the same process calls make_update(), on its own thread, before the accelerator host receives the
/// message Parameters for step 0. An optimizer in another process opens the SharedArena instead. Only the accelerator
/// host calls the other functions.
class TensorArena final : public devices::DeviceArena {
 public:
  /// `parameters` and `gradients` are the parameters and gradients that belong to this rank's shard (ArenaShard), as
  /// flat tensors on the device. `own` describes the memory of the device. If it has a device plugin, `regions` are the
  /// same parameters and gradients as memory of the device plugin.
  TensorArena(DeviceMemory own, at::Tensor parameters, at::Tensor gradients,
              std::optional<devices::UpdateRegions> regions = {});

  std::string device() const override;
  std::unique_ptr<devices::Update> make_update(const devices::UpdateRequest& request) override;

  /// Returns what an optimizer in another process needs in order to update the parameters on the device. Throws
  /// kUnsupported if there is no device plugin or if it cannot share memory.
  SharedArena share();

  /// Opens the state of an optimizer in another process. From now on, this optimizer updates the parameters on the
  /// device. Throws kInternal if share() has not been called, kShapeMismatch if a block of the state has no
  /// block of the same size on the device (OptimizerState::device_blocks), and what devices::Device::open_block throws.
  void adopt(const OptimizerState& state);

  /// Returns true if the optimizer updates the parameters on the device.
  bool is_updated_on_device() const { return updated_on_device_; }

  /// Call begin_update() before the message Gradients is sent to the optimizer, and end_update() when its message
  /// Parameters has arrived. If the optimizer is in another process, these functions make the computation and the
  /// update wait for each other on the device (UpdateFences). Otherwise they do nothing.
  void begin_update();
  void end_update();

  /// Returns the optimizer's state on the device, with its mirrors in host memory.
  const std::vector<MirroredBlock>& state() const { return state_; }

  /// state_to_host() copies the optimizer's state from the device to the blocks in host memory that the optimizer has
  /// announced, and restore_state() copies it from there to the device.
  void state_to_host() const;
  void restore_state();

 private:
  std::unique_ptr<devices::Update> make_native_update(const devices::UpdateRequest& request);
  void state_to_device() const;

  DeviceMemory own_;
  at::Tensor parameters_;
  at::Tensor gradients_;
  std::optional<devices::UpdateRegions> regions_;
  /// The stream of the thread that made this object, which is the thread of the accelerator host. Empty for devices
  /// without streams.
  std::optional<c10::Stream> stream_;
  std::vector<MirroredBlock> state_;
  std::optional<UpdateFences> fences_;  ///< Made by share().
  bool prepared_ = false;               ///< True if the mirrors of the state have been prepared for copies.
  bool updated_on_device_ = false;
  bool updated_elsewhere_ = false;  ///< True if another process makes the updates.
};

}  // namespace trainyard
