// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "devices/device.h"
#include "messages/arena.h"
#include "messages/buffer.h"

namespace trainyard {

/// A device plugin's objects for a device and for the stream to which LibTorch submits its work. The stream is
/// destroyed before the device.
struct NativeDevice {
  /// The device. The pointer keeps the device plugin alive, too.
  std::shared_ptr<devices::Device> device;
  /// The stream on which LibTorch computes. Used on the thread of the accelerator host and, if the optimizer is in the
  /// same process, on its thread. The messages between the two ensure that they never use the stream at the same time.
  std::shared_ptr<devices::Stream> stream;
};

/// Describes the memory of a device, if it is separate from host memory. The blocks with the model's parameters,
/// gradients and buffers are then in this memory.
struct DeviceMemory {
  /// A function that copies a whole block between host and device. A copy to the host is complete on return. A copy to
  /// the device is complete before any later computation on the device begins.
  using Copy = std::function<void(at::Tensor to, const at::Tensor& from)>;

  std::optional<at::Device> device;  ///< The device; empty if kernels work on the host memory itself.
  std::string name;                  ///< The name of the device for users, such as "cuda:0".
  /// The function that copies blocks; empty to use LibTorch's own copy.
  Copy copy;
  /// The device plugin's objects for the device. Null if there is no device plugin: LibTorch then allocates the blocks,
  /// and make_tensor_update() makes the update.
  const NativeDevice* native = nullptr;
  /// A function that prepares host memory for copies from the device, for instance by page-locking it. May be empty.
  /// Called on the thread of the accelerator host.
  std::function<void(const Buffer& block)> prepare;
  /// Counts the bytes that are copied, if there is no device plugin; may be null. Streams of a device plugin count the
  /// bytes themselves.
  std::shared_ptr<devices::LinkBytes> link;
};

/// One of the flat blocks that hold the model's parameters, gradients and buffers. A block has two sides: the host
/// memory and the memory that kernels work on. An optimizer or a checkpoint writer in another process can map the host
/// memory.
///
/// On the CPU both sides are the same bytes, and nothing is ever copied. For a device with separate memory, there is a
/// second block of the same layout on the device. Code that has changed one side must copy the block to the other side.
/// The whole block is copied, in one contiguous transfer.
class MirroredBlock {
 public:
  MirroredBlock() = default;

  /// Makes a block over `host`, which must hold whole elements of `dtype`. The device's side, if there is one, is
  /// zeroed. `what` describes the contents for error messages, such as "parameters".
  MirroredBlock(Buffer host, DType dtype, const DeviceMemory& own, const std::string& what);

  /// Makes a block over `host` and `region`, which is memory of the device plugin and has the same size. Does not
  /// change the contents of either side. `own` must have a device plugin.
  MirroredBlock(Buffer host, DType dtype, const DeviceMemory& own, devices::Region region);

  bool empty() const { return host_.empty(); }
  std::size_t bytes() const { return host_.size(); }
  const Buffer& host() const { return host_; }
  /// Returns true if the two sides are separate memory.
  bool is_mirrored() const { return own_.device.has_value(); }

  /// Returns the host side as a one-dimensional tensor, for a message.
  Tensor message() const;

  /// Returns the side that kernels work on, as a one-dimensional tensor.
  const at::Tensor& flat() const { return flat_; }
  /// Returns the device's side, if it is memory of a device plugin.
  const std::optional<devices::Region>& region() const { return region_; }

  /// Returns a view of one entry, with its shape and type, on the side that kernels work on.
  at::Tensor entry(const ArenaEntry& entry) const;

  /// Copy the whole block to the host's side (to_host) or to the device's side (to_device), and count its bytes under
  /// `purpose` in DeviceMemory::link. Return false if nothing is copied, because both sides are the same bytes or the
  /// block is empty.
  bool to_host(devices::Purpose purpose) const;
  bool to_device(devices::Purpose purpose) const;

  /// Makes `stream` copy the whole block to the host's side, and does not wait for it. The block must be memory of the
  /// device plugin to which the stream belongs.
  void submit_to_host(devices::Stream& stream, devices::Purpose purpose) const;

 private:
  void copy(const at::Tensor& to, const at::Tensor& from) const;

  Buffer host_;
  DType dtype_ = DType::kUInt8;
  at::Tensor host_view_;
  at::Tensor flat_;  ///< The side that kernels work on; the same as `host_view_` if there is only host memory.
  std::optional<devices::Region> region_;
  DeviceMemory own_;
};

/// Blocks the calling thread until all operations of the stream are done. Throws what devices::Stream::drain throws.
void await_copies(devices::Stream& stream);

}  // namespace trainyard
