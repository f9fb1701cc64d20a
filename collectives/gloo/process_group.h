// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <memory>
#include <vector>

#include "collectives/collective.h"

namespace trainyard::collectives {

/// LibTorch's process group over Gloo, on the loopback interface. The functions of ProcessGroupGloo that this class
/// uses are the same in LibTorch 1.13 and 2.x.
class GlooGroup final : public c10d::ProcessGroupGloo {
 public:
  /// An operation that Gloo carries out on one of its own threads.
  using Job = c10::intrusive_ptr<c10d::Work>;

  /// Connects all members. `own` is the index of the calling member. Throws kUnsupported if this LibTorch cannot use
  /// Gloo.
  static c10::intrusive_ptr<GlooGroup> connect(const CollectiveContext& context, std::uint32_t own);

  using c10d::ProcessGroupGloo::ProcessGroupGloo;

  Job start_all_reduce(at::Tensor data, ReduceOp op);
  Job start_broadcast(at::Tensor data, std::uint32_t root);
  /// Starts an all_gather. `parts` contains one tensor for each member, all of the same size. `own` is the index of the
  /// calling member. Its part must contain the member's data; the operation fills in the others.
  Job start_all_gather(std::vector<at::Tensor> parts, std::uint32_t own);

  /// Breaks all connections, so that unfinished jobs soon end with an exception.
  void abort();
};

}  // namespace trainyard::collectives
