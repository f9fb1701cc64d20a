// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/rank_order.h"

namespace trainyard::tcp {

/// The form in which the elements of a reduction travel while they are being reduced. For example, 16-bit floats travel
/// as float32, so that they are rounded only once. The results equal those of reduce_in_order(), bit by bit.
class Combination {
 public:
  Combination(ReduceOp op, DType dtype, std::uint32_t ranks)
      : form_(collectives::working_form(op, dtype, ranks)), dtype_(dtype) {}

  /// The type of elements that are being reduced.
  DType partial_type() const { return form_.dtype; }
  /// Returns true if the elements are converted to another type while they are being reduced.
  bool is_converted() const { return form_.dtype != dtype_; }

  /// Converts elements of a rank to `partial`, the form in which they travel.
  void begin(const void* own, void* partial, std::uint64_t count) const;

  /// Which of two values is the first one of a sum.
  enum class First { kPartial, kOwn };
  /// Adds `own`, the elements of one rank, to `partial`, the result of the ranks before it, and stores the result in
  /// `to`. `to` may be the same memory as `partial`, or as `own` if elements are not converted. `first` determines
  /// which of the two values is the left operand.
  void add(const void* partial, const void* own, void* to, std::uint64_t count, First first = First::kPartial) const;
  /// Does the same for the last rank, but stores the final result, in the type of the elements. `to` may be the same
  /// memory as `own`.
  void add_last(const void* partial, const void* own, void* to, std::uint64_t count,
                First first = First::kPartial) const;

 private:
  collectives::WorkingForm form_;
  DType dtype_;
};

}  // namespace trainyard::tcp
