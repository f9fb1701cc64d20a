// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/pipeline/segment.h"
#include "tensors/arena.h"
#include "tensors/borrowed_block.h"

namespace trainyard::pipeline {

/// The parameters and buffers of the stages that this rank of a pipeline does not have. The parameters of other ranks
/// have memory on this rank only during predictions. All ranks have all buffers, but only the rank that computes a
/// stage has the current values of its buffers.
class OtherRanks {
 public:
  /// Frees the memory of all parameters that belong to other ranks. `segment` consists of the stages of this rank.
  OtherRanks(Model& model, const Arena& arena, const Segment& segment, World& world);

  /// Gathers all parameters and buffers on every rank. The other ranks' parameters remain valid until release(); until
  /// then, further calls do nothing.
  void gather_parameters();
  void release() { parameters_.take_back(); }

  /// Copies the buffers of every stage from the stage's rank to all ranks.
  void gather_buffers() const;

 private:
  const Arena& arena_;
  const Segment& segment_;
  World& world_;
  BorrowedBlock parameters_;  ///< The parameters of other ranks are views of this block.
};

}  // namespace trainyard::pipeline
