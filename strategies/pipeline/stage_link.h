// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "strategies/rank_group.h"

namespace trainyard::pipeline {

/// One end of the connection between two neighbouring ranks of a pipeline, which send each other activations and
/// gradients.
///
/// Tensors arrive in the order in which they were sent. The receiver need not know their shapes beforehand. Both ends
/// pass the same `key` for a tensor, such as the shape of the batch from which it was computed. Before the first tensor
/// with a new key, its shape and type are sent; all later tensors with this key must have the same shape and type.
class StageLink {
 public:
  using Key = std::vector<std::int64_t>;

  /// `peer` is the number of the neighbouring rank in the group. Received tensors are allocated on `device`.
  StageLink(RankGroup& ranks, std::uint32_t peer, at::Device device) : ranks_(ranks), peer_(peer), device_(device) {}

  /// Starts to send a tensor. This object keeps the tensor until it has been sent. If `key` is new, waits until the
  /// shape has been sent. Throws kUnsupported for a tensor with more than 8 dimensions.
  void send(const at::Tensor& values, const Key& key);

  /// Starts to receive the tensor that the next receive() will return, unless this has already been started. If `key`
  /// is new, waits for the shape.
  void expect(const Key& key);
  /// Waits for the next tensor and returns it. expect() need not have been called.
  at::Tensor receive(const Key& key);

  /// Waits until all tensors have been sent.
  void flush();

 private:
  struct Shape {
    at::ScalarType type;
    std::vector<std::int64_t> sizes;
  };
  struct Transfer {
    Work work;
    at::Tensor host;
  };

  void send_shape(const at::Tensor& values);
  Shape receive_shape();

  RankGroup& ranks_;
  std::uint32_t peer_;
  at::Device device_;
  std::set<Key> told_;              ///< The keys whose shape has been sent to the peer.
  std::map<Key, Shape> known_;      ///< The shapes that the peer has sent.
  std::deque<Transfer> leaving_;    ///< Tensors that may not have been sent yet.
  std::optional<Transfer> coming_;  ///< The tensor that is being received, until receive() returns it.
};

}  // namespace trainyard::pipeline
