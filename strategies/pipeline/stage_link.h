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

/// One end of the link between two neighbours of a pipeline.
///
/// Tensors arrive in the order in which they were sent. The receiver need not know their shapes beforehand. Every
/// tensor has a `key`, which both ends choose in the same way. Before the first tensor with a new key, its shape and
/// type are sent; all later tensors with this key must have the same shape and type.
class StageLink {
 public:
  using Key = std::vector<std::int64_t>;

  /// Received tensors are allocated on `device`.
  StageLink(RankGroup& ranks, std::uint32_t peer, at::Device device)
      : world_(ranks.collective()), peer_(peer), device_(device) {}

  /// Starts to send a tensor, whose memory is kept until it has been sent. If `key` is new, waits until the shape has
  /// been sent. Throws kUnsupported for a tensor with more than 8 dimensions.
  void send(const at::Tensor& values, const Key& key);

  /// Requests the tensor that the next receive() will return, before it is needed. If `key` is new, waits for the
  /// shape.
  void expect(const Key& key);
  /// Waits for the next tensor and returns it.
  at::Tensor receive(const Key& key);

  /// Waits until everything has been sent.
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

  Collective& world_;
  std::uint32_t peer_;
  at::Device device_;
  std::set<Key> told_;              ///< The keys whose shape has been sent to the peer.
  std::map<Key, Shape> known_;      ///< The shapes that the peer has sent.
  std::deque<Transfer> leaving_;    ///< Tensors that may not have been sent yet.
  std::optional<Transfer> coming_;  ///< A tensor that was requested but not received yet.
};

}  // namespace trainyard::pipeline
