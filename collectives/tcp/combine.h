// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/rank_order.h"

namespace trainyard::tcp {

/// Reduces elements step by step, while a partial result travels from rank to rank. The type of a partial result can
/// differ from that of the elements: 16-bit floats, for example, are added up in float32, so that they are rounded only
/// once. If the ranks are combined in ascending order, the results are bit-identical to those of reduce_in_order().
class Combination {
 public:
  Combination(ReduceOp op, DType dtype, std::uint32_t ranks)
      : form_(collectives::working_form(op, dtype, ranks)), dtype_(dtype) {}

  /// Returns the type of the elements of a partial result.
  DType partial_type() const { return form_.dtype; }
  /// Returns true if the type of partial results differs from that of the elements.
  bool is_converted() const { return form_.dtype != dtype_; }

  /// Converts the `count` elements `own` of the first rank to the first partial result, and stores it in `partial`.
  void begin(const void* own, void* partial, std::uint64_t count) const;

  /// Which value is the left operand of a reduction.
  enum class First { kPartial, kOwn };
  /// Combines `partial`, the result of the previous ranks, with `own`, the elements of the next rank, and stores the
  /// new partial result in `to`. `to` may be the same memory as `partial`, or as `own` if is_converted() is false.
  /// `first` determines which of the two values is the left operand.
  void add(const void* partial, const void* own, void* to, std::uint64_t count, First first = First::kPartial) const;
  /// Like add(), but for the last rank: stores the final result, in the type of the elements and, for a mean, divided
  /// by the number of ranks. `to` may be the same memory as `own`.
  void add_last(const void* partial, const void* own, void* to, std::uint64_t count,
                First first = First::kPartial) const;

 private:
  collectives::WorkingForm form_;
  DType dtype_;
};

}  // namespace trainyard::tcp
