// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "devices/fence.h"
#include "messages/device_handle.h"
#include "tensors/mirrored_block.h"

namespace trainyard {

/// Makes the work of two processes on a device wait for each other: this process computes gradients, and an optimizer
/// in another process updates the parameters (SharedArena). Only the device waits; no function does.
///
///     begin_update() -> Gradients --> [the update] --> Parameters -> end_update()
class UpdateFences {
 public:
  /// Makes the two fences. This process computes on `native.stream`. `native` must exist for as long as this object.
  explicit UpdateFences(const NativeDevice& native);

  /// Return the handles with which the optimizer opens the fences. Throw what devices::Device::export_fence throws.
  FenceHandle gradients_ready() const { return native_.device->export_fence(*gradients_ready_); }
  FenceHandle parameters_ready() const { return native_.device->export_fence(*parameters_ready_); }

  /// Lets the next update begin when the work that has been submitted to `native.stream` so far is done. Call this
  /// function before the message Gradients is sent.
  void begin_update();

  /// Makes work that is submitted to `native.stream` later wait for the update. Call this function when the message
  /// Parameters has arrived. If no update has begun, the function does nothing.
  void end_update();

 private:
  const NativeDevice& native_;
  std::shared_ptr<devices::Fence> gradients_ready_;
  std::shared_ptr<devices::Fence> parameters_ready_;
  std::uint64_t begun_ = 0;  ///< The number of updates that have begun; the stream sets gradients_ready_ to it.
  std::uint64_t ended_ = 0;  ///< The number of updates for which the stream waits or has waited.
};

}  // namespace trainyard
