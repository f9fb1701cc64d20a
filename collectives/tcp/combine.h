// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/rank_order.h"

namespace trainyard::tcp {

/// How the elements of a reduction travel while they are being reduced: 16-bit floats as float32, for instance, so that
/// they are rounded only once. The results are those of reduce_in_order(), bit by bit.
class Combination {
 public:
  Combination(ReduceOp op, DType dtype, std::uint32_t ranks)
      : form_(collectives::working_form(op, dtype, ranks)), dtype_(dtype) {}

  /// The type of elements that are being reduced.
  DType partial_type() const { return form_.dtype; }
  /// Returns true if elements that are being reduced have another type than others.
  bool is_converted() const { return form_.dtype != dtype_; }

  /// Converts elements of a rank to `partial`, the form in which they travel.
  void begin(const void* own, void* partial, std::uint64_t count) const;

  /// Which of two values is the first one of a sum.
  enum class First { kPartial, kOwn };
  /// Combines `partial`, the result of some ranks, with `own`, the elements of another rank, to the result of all of
  /// these ranks. `to` may be `partial`, or `own` if elements are not converted.
  void add(const void* partial, const void* own, void* to, std::uint64_t count, First first = First::kPartial) const;
  /// The same for the last rank: `to` becomes the final result, in the type of the elements. It may be `own`.
  void add_last(const void* partial, const void* own, void* to, std::uint64_t count,
                First first = First::kPartial) const;

 private:
  collectives::WorkingForm form_;
  DType dtype_;
};

}  // namespace trainyard::tcp
