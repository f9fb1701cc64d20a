// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives/collective.h"
#include "devices/link_bytes.h"

namespace trainyard {

/// Returns a description of a flat tensor that can be passed to the operations of a Collective. Nothing is copied, so
/// the tensor must exist until the operation is finished.
Elements elements_of(const at::Tensor& flat);

/// A group of ranks that exchange flat, contiguous tensors.
///
/// An operation on host memory works in place and may still be in progress when the call returns. The same holds for an
/// operation on a device tensor if the collective accepts its memory (Collective::serves); the call then first waits
/// until the device has done what was submitted to its current stream. Otherwise, and whenever integers or bools are
/// reduced, an operation on a device tensor works on a copy in host memory and is finished when the call returns.
///
/// All ranks of a group must call the same operations in the same order. In a group of a single rank, operations change
/// nothing, so most callers need not treat this case separately. Copies of this object refer to the same group.
class RankGroup {
 public:
  /// Makes a group of a single rank.
  RankGroup() = default;
  explicit RankGroup(std::shared_ptr<Collective> collective) : collective_(std::move(collective)) {}

  bool is_alone() const { return collective_ == nullptr; }
  /// Returns the number of this rank within the group.
  std::uint32_t rank() const { return collective_ ? collective_->rank() : 0; }
  std::uint32_t size() const { return collective_ ? collective_->size() : 1; }

  // These operations are described in collectives/collective.h. Bounds are in elements.
  Work all_reduce(const at::Tensor& flat, ReduceOp op);
  Work broadcast(const at::Tensor& flat, std::uint32_t root);
  Work reduce_scatter(const at::Tensor& flat, ReduceOp op, std::span<const std::uint64_t> bounds);
  Work all_gather(const at::Tensor& flat, std::span<const std::uint64_t> bounds);

  // These operations wait for their results.
  double sum(double value);  ///< Returns the sum of the values of all ranks.
  bool any(bool here);       ///< Returns true if `here` is true on any rank.
  std::vector<std::string> all_gather_texts(const std::string& text);

  /// Makes progress with unfinished operations, without waiting; see Collective::progress.
  void progress();

  /// Returns a flat tensor with `elements` elements, whose values are undefined. If `options` ask for host memory, the
  /// tensor is in memory on which operations of this group work without a copy, if the collective has such memory. That
  /// memory exists at least as long as the group, so an operation on it may still be in progress when the run ends.
  /// Every rank must call this function with the same sizes in the same order.
  at::Tensor scratch(std::int64_t elements, const at::TensorOptions& options);

  /// Returns the tensor on `device`. A tensor that is on another device is copied, and its bytes are counted; see
  /// count_copies().
  at::Tensor moved_to(at::Device device, const at::Tensor& tensor) const;

  /// Copies the values of `from` to `to`, which have the same shape. If one of them is on a device and the other in
  /// host memory, the bytes are counted; see count_copies().
  void copy(const at::Tensor& from, const at::Tensor& to) const;

  /// Makes the group fail. Call this function if this rank cannot continue: instead of waiting for it, the other ranks
  /// then get an error that names it and contains `reason`.
  void abort(const std::string& reason) noexcept;

  /// Lets later operations on `memory` work without a copy, if the collective supports this; see Collective::use.
  void use(const Buffer& memory);

  /// Makes this object add the bytes that it copies between the device and the host to the counters in `link`, which
  /// may be null.
  void count_copies(std::shared_ptr<devices::LinkBytes> link) { link_ = std::move(link); }
  /// Returns the counters of count_copies(), or null.
  const std::shared_ptr<devices::LinkBytes>& link_bytes() const { return link_; }

  /// Returns the collective, for functions that this class does not have. Must not be called for a group of a single
  /// rank.
  Collective& collective() { return *collective_; }

 private:
  template <class Operation>
  Work run(collectives::OperationKind kind, const at::Tensor& flat, const Operation& operation);
  bool works_in_place(collectives::OperationKind kind, const at::Tensor& flat) const;
  void count(at::Device source, const at::Tensor& copy) const;

  std::shared_ptr<Collective> collective_;    ///< Null for a single rank.
  std::shared_ptr<devices::LinkBytes> link_;  ///< Null if nothing is counted.
};

}  // namespace trainyard
