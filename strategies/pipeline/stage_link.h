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

/// One of the two ends of the link between two neighbours of a pipeline.
///
/// Tensors arrive in the order in which they were sent. The receiver need not know their shapes: it is told the shape
/// the first time that something is sent for a `key`, which both ends choose alike. From then on, what comes for that
/// key has the same shape and type.
class StageLink {
 public:
  using Key = std::vector<std::int64_t>;

  /// `device` is where received tensors will lie.
  StageLink(RankGroup& ranks, std::uint32_t peer, at::Device device)
      : world_(ranks.collective()), peer_(peer), device_(device) {}

  /// Returns at once if the collective does. The memory of `values` is kept until it has gone.
  void send(const at::Tensor& values, const Key& key);

  /// Asks for the next tensor before it is needed: the one that receive() will return.
  void expect(const Key& key);
  at::Tensor receive(const Key& key);

  /// Waits until everything has gone.
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
  std::set<Key> told_;              ///< The keys whose shape the peer knows.
  std::map<Key, Shape> known_;      ///< The shapes that the peer has sent.
  std::deque<Transfer> leaving_;    ///< Tensors of which it is not yet known that they have gone.
  std::optional<Transfer> coming_;  ///< The tensor that is requested, but not received yet.
};

}  // namespace trainyard::pipeline
