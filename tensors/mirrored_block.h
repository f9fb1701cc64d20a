#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>

#include "messages/arena.h"
#include "messages/buffer.h"

namespace trainyard {

/// How a device with memory of its own takes part in an arena.
struct DeviceMemory {
  /// Copies a whole block between host and device; complete on return. Empty: LibTorch's own copy.
  using Copy = std::function<void(at::Tensor to, const at::Tensor& from)>;

  std::optional<at::Device> device;  ///< Where kernels work; none: on the host memory itself.
  Copy copy;
};

/// One flat block of an arena, as its two sides see it: host memory, which optimizer and checkpoint writer map even
/// from other processes, and the memory that kernels work on.
///
/// On a processor both are the same bytes and nothing is ever copied. A device with memory of its own has a second
/// block of the same layout there; who has changed one side copies it to the other, always as a whole, so that a
/// transfer is one long run of bytes.
class MirroredBlock {
 public:
  MirroredBlock() = default;

  /// `host` is zeroed and holds whole elements of `dtype`; so is the device's side then.
  MirroredBlock(Buffer host, DType dtype, const DeviceMemory& own);

  bool empty() const { return host_.empty(); }
  std::size_t bytes() const { return host_.size(); }
  const Buffer& host() const { return host_; }
  /// There are two sides.
  bool is_mirrored() const { return own_.device.has_value(); }

  /// The host side, one-dimensional, for a message.
  Tensor message() const;

  /// The side that kernels work on, one-dimensional.
  const at::Tensor& flat() const { return flat_; }

  /// The kernels' view of one entry.
  at::Tensor entry(const ArenaEntry& entry) const;

  /// Copies to the other side. False if there is nothing to copy, because both are the same bytes.
  bool to_host() const;
  bool to_device() const;

 private:
  bool copy(const at::Tensor& to, const at::Tensor& from) const;

  Buffer host_;
  DType dtype_ = DType::kUInt8;
  at::Tensor host_view_;
  at::Tensor flat_;  ///< `host_view_`, if there is no memory but the host's.
  DeviceMemory own_;
};

}  // namespace trainyard
