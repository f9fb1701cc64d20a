// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/pipeline/segment.h"
#include "tensors/arena.h"
#include "tensors/borrowed_block.h"

namespace trainyard::pipeline {

/// The parts of the model that belong to the other ranks of a pipeline: parameters and buffers. The parameters have
/// memory on this rank only during predictions. The current values of the buffers are only on the rank of their stage.
class OtherRanks {
 public:
  /// Releases the memory of all parameters that belong to other ranks.
  OtherRanks(Model& model, const Arena& arena, const Segment& segment, World& world);

  /// Gathers all parameters and buffers on every rank. The parameters keep their memory until release(); until then a
  /// second call does nothing.
  void gather_parameters();
  void release() { parameters_.take_back(); }

  /// Copies the buffers of every stage to every rank.
  void gather_buffers() const;

 private:
  const Arena& arena_;
  const Segment& segment_;
  World& world_;
  BorrowedBlock parameters_;  ///< The block of which the other ranks' parameters are views.
};

}  // namespace trainyard::pipeline
