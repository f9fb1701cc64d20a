// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace trainyard {

/// A flat tensor whose memory is provided only temporarily. Strategies use it for parameters that a rank holds only
/// while they are needed for a computation.
///
/// Views of the block, including views that autograd has saved for the backward pass, always refer to the memory that
/// is currently provided. While no memory is provided, the views have sizes and a type, but must not be read or
/// written.
class BorrowedBlock {
 public:
  BorrowedBlock() = default;
  /// Makes a block of `elements` elements, without memory. `options` contains its type and device.
  BorrowedBlock(std::int64_t elements, const at::TensorOptions& options);

  const at::Tensor& flat() const { return flat_; }

  /// Returns a view with these sizes, starting at element `begin`.
  at::Tensor view(std::int64_t begin, at::IntArrayRef sizes) const;

  /// Provides memory for the block. `memory` must be contiguous and on the device of the block, and must have the type
  /// and the number of elements of the block. The block keeps `memory` alive until take_back().
  void lend(const at::Tensor& memory);
  /// Stops using the memory passed to lend(), and releases it.
  void take_back();
  bool has_memory() const { return memory_.defined(); }

 private:
  void point_to(void* data);

  at::Tensor flat_;
  at::Tensor memory_;
};

}  // namespace trainyard
