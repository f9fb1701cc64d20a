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

/// Returns a flat tensor in host memory, in the form that collectives take.
Elements elements_of(const at::Tensor& host);

/// A group of ranks, with operations on flat, contiguous tensors.
///
/// Operations work in place on host memory, and are under way when the call returns. Other memory goes through a copy
/// in host memory, and the operation is done when the call returns.
///
/// A single rank forms a group, too: its operations leave everything as it is, so nobody has to ask whether there are
/// others. All ranks of a group call the same operations in the same order. Copies are the same group.
class RankGroup {
 public:
  /// A group of a single rank.
  RankGroup() = default;
  explicit RankGroup(std::shared_ptr<Collective> collective) : collective_(std::move(collective)) {}

  bool is_alone() const { return collective_ == nullptr; }
  std::uint32_t rank() const { return collective_ ? collective_->rank() : 0; }  ///< The rank within the group.
  std::uint32_t size() const { return collective_ ? collective_->size() : 1; }

  // See Collective for what each of them does. Bounds are counted in elements.
  Work all_reduce(const at::Tensor& flat, ReduceOp op);
  Work broadcast(const at::Tensor& flat, std::uint32_t root);
  Work reduce_scatter(const at::Tensor& flat, ReduceOp op, std::span<const std::uint64_t> bounds);
  Work all_gather(const at::Tensor& flat, std::span<const std::uint64_t> bounds);

  // These operations wait until they are done.
  double sum(double value);  ///< The sum of what all ranks have.
  bool any(bool here);       ///< True if it is true on any rank.
  std::vector<std::string> all_gather_texts(const std::string& text);

  /// Lets operations that are under way make progress.
  void progress();

  /// Returns a flat tensor on which operations need no copy, if that is possible. Every rank asks for the same size, in
  /// the same order. Its values are undefined.
  at::Tensor scratch(std::int64_t elements, const at::TensorOptions& options);

  /// Reports that this rank cannot continue: the others fail at once, with an error that names it, instead of waiting
  /// for it.
  void abort(const std::string& reason) noexcept;

  /// Announces that operations will work on this memory; see Collective.
  void use(const Buffer& memory);

  /// Gives access to everything else that a collective can do. Not for a single rank.
  Collective& collective() { return *collective_; }

 private:
  std::shared_ptr<Collective> collective_;  ///< Null for a single rank.
};

}  // namespace trainyard
