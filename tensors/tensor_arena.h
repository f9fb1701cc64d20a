// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/device_arena.h"
#include "tensors/mirrored_block.h"

namespace trainyard {

/// The arena of one rank (its parameters and gradients) on a device that LibTorch supports. Updates are made as the
/// device specifies (DeviceMemory::make_update), or else with LibTorch's operations.
///
/// The optimizer calls make_update(), on its own thread, before the accelerator host receives the message Parameters
/// for step 0. The other functions belong to the accelerator host.
class TensorArena final : public devices::DeviceArena {
 public:
  /// `parameters` and `gradients` are the parameters and gradients that belong to this rank's shard (ArenaShard), as
  /// flat tensors on the device. `own` describes the memory of the device.
  TensorArena(DeviceMemory own, at::Tensor parameters, at::Tensor gradients);

  std::string device() const override;
  std::unique_ptr<devices::Update> make_update(const devices::UpdateRequest& request) override;

  /// Returns true if the optimizer updates the parameters on the device.
  bool is_updated_here() const { return updated_here_; }

  /// Copy the optimizer's state between the device and the blocks in host memory that the optimizer has announced.
  void state_to_host() const;
  void state_to_device() const;

 private:
  DeviceMemory own_;
  at::Tensor parameters_;
  at::Tensor gradients_;
  /// The stream of the thread that made this object, which is the thread of the accelerator host. Empty for devices
  /// without streams.
  std::optional<c10::Stream> stream_;
  std::vector<MirroredBlock> state_;
  bool updated_here_ = false;
};

}  // namespace trainyard
