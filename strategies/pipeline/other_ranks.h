// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategies/pipeline/segment.h"
#include "tensors/arena.h"
#include "tensors/borrowed_block.h"

namespace trainyard::pipeline {

/// What the other ranks of a pipeline have of the model: parameters, which have memory here only during predictions,
/// and buffers, whose values are known where their stage is.
class OtherRanks {
 public:
  /// Releases the memory of all parameters that other ranks have.
  OtherRanks(Model& model, const Arena& arena, const Segment& segment, World& world);

  /// Gathers all parameters on every rank, until release(). A second call does nothing.
  void gather_parameters();
  void release() { parameters_.take_back(); }

  /// Copies the buffers of every stage to every rank.
  void gather_buffers() const;

 private:
  const Arena& arena_;
  const Segment& segment_;
  World& world_;
  BorrowedBlock parameters_;  ///< The block of which they are views.
};

}  // namespace trainyard::pipeline
