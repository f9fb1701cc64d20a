// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>

#include "messages/arena.h"
#include "messages/buffer.h"

namespace trainyard {

/// The separate memory of a device, in which an arena has its blocks.
struct DeviceMemory {
  /// A function that copies a whole block between host and device, and returns when that is complete. If `copy` is
  /// empty, LibTorch's own copy is used.
  using Copy = std::function<void(at::Tensor to, const at::Tensor& from)>;

  /// The device whose memory kernels work on; empty if they work on the host memory.
  std::optional<at::Device> device;
  Copy copy;
};

/// One flat block of an arena, with its two sides: the host memory, which other components can map in their processes,
/// and the memory that kernels work on.
///
/// On a processor both are the same bytes, and nothing is ever copied. A device with memory of its own has a second
/// block of the same layout. Code that has changed one side must copy it to the other. The whole block is copied in one
/// contiguous transfer.
class MirroredBlock {
 public:
  MirroredBlock() = default;

  /// Makes a block over `host`, which must be zeroed and hold whole elements of `dtype`. The device's side is zeroed,
  /// too.
  MirroredBlock(Buffer host, DType dtype, const DeviceMemory& own);

  bool empty() const { return host_.empty(); }
  std::size_t bytes() const { return host_.size(); }
  const Buffer& host() const { return host_; }
  /// Returns true if there are two sides.
  bool is_mirrored() const { return own_.device.has_value(); }

  /// Returns the host side as a one-dimensional tensor, for a message.
  Tensor message() const;

  /// Returns the side that kernels work on, as a one-dimensional tensor.
  const at::Tensor& flat() const { return flat_; }

  /// Returns the kernels' view of one entry.
  at::Tensor entry(const ArenaEntry& entry) const;

  /// Copy the block to the other side. Return false if there is nothing to copy, because both sides are the same bytes.
  bool to_host() const;
  bool to_device() const;

 private:
  bool copy(const at::Tensor& to, const at::Tensor& from) const;

  Buffer host_;
  DType dtype_ = DType::kUInt8;
  at::Tensor host_view_;
  at::Tensor flat_;  ///< The side that kernels work on; the same as `host_view_` if there is only host memory.
  DeviceMemory own_;
};

}  // namespace trainyard
