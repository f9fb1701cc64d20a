// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives/collective.h"

namespace trainyard {

/// Describes a flat tensor in host memory in the form that collectives take. Nothing is copied.
Elements elements_of(const at::Tensor& host);

/// A group of ranks, with operations on flat, contiguous tensors.
///
/// On host memory, operations work in place and are still under way when the call returns. A tensor on a device goes
/// through a copy in host memory, and the operation is done when the call returns.
///
/// A single rank forms a group, too: its operations leave everything as it is, so nobody has to ask whether there are
/// others. All ranks of a group call the same operations in the same order. Copies are the same group.
class RankGroup {
 public:
  /// Makes a group of a single rank.
  RankGroup() = default;
  explicit RankGroup(std::shared_ptr<Collective> collective) : collective_(std::move(collective)) {}

  bool is_alone() const { return collective_ == nullptr; }
  std::uint32_t rank() const { return collective_ ? collective_->rank() : 0; }  ///< The rank within the group.
  std::uint32_t size() const { return collective_ ? collective_->size() : 1; }

  // These are the operations of Collective; see there. Bounds are counted in elements.
  Work all_reduce(const at::Tensor& flat, ReduceOp op);
  Work broadcast(const at::Tensor& flat, std::uint32_t root);
  Work reduce_scatter(const at::Tensor& flat, ReduceOp op, std::span<const std::uint64_t> bounds);
  Work all_gather(const at::Tensor& flat, std::span<const std::uint64_t> bounds);

  // The following operations wait for their results.
  double sum(double value);  ///< Returns the sum of the values of all ranks.
  bool any(bool here);       ///< Returns true if `here` is true on any rank.
  std::vector<std::string> all_gather_texts(const std::string& text);

  /// Lets operations that are under way make progress.
  void progress();

  /// Returns a flat tensor with undefined values, on which operations need no copy if the collective can provide that.
  /// Every rank must ask for the same sizes in the same order.
  at::Tensor scratch(std::int64_t elements, const at::TensorOptions& options);

  /// Reports that this rank cannot continue: the others fail at once, with an error that names it, instead of waiting
  /// for it.
  void abort(const std::string& reason) noexcept;

  /// Announces that operations will work on this memory; see Collective::use.
  void use(const Buffer& memory);

  /// Gives access to everything else that a collective can do. Must not be called for a group of a single rank.
  Collective& collective() { return *collective_; }

 private:
  std::shared_ptr<Collective> collective_;  ///< Null for a single rank.
};

}  // namespace trainyard
