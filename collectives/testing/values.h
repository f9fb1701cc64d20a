// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/collective.h"

namespace trainyard::testing {

/// Returns all element types.
const std::vector<DType>& all_dtypes();
/// Returns all reductions.
const std::vector<ReduceOp>& all_ops();

/// An array of elements of any type, which are read and written as doubles, for inputs and results of tests.
class Values {
 public:
  Values(DType dtype, std::uint64_t count) : dtype_(dtype), bytes_((count + 1) * size_of(dtype)), count_(count) {}

  /// Returns the elements. They begin one element after the start of the memory, so they are aligned only to the size
  /// of an element.
  Elements elements() { return {bytes_.data() + size_of(dtype_), dtype_, count_}; }
  double get(std::uint64_t i) const;
  void set(std::uint64_t i, double value);
  std::uint64_t size() const { return count_; }
  /// Returns all bytes as text, for comparison.
  std::string text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  const std::byte* at(std::uint64_t i) const { return bytes_.data() + (i + 1) * size_of(dtype_); }

  DType dtype_;
  std::vector<std::byte> bytes_;
  std::uint64_t count_;
};

/// Returns the value of rank `rank` at index `i`: a small number that differs between ranks. It is an integer for
/// integer types, and 0 or 1 for bools. No reduction over four ranks overflows.
double sample(DType dtype, std::uint32_t rank, std::uint64_t i);

/// Returns the expected result of reducing sample() of all ranks at index `i`.
double reduced(ReduceOp op, DType dtype, std::uint32_t ranks, std::uint64_t i);

/// Throws an exception that names `what` and the index `i` if `got` differs from `wanted` by more than the precision of
/// the type.
void expect_near(const std::string& what, DType dtype, std::uint64_t i, double got, double wanted);

}  // namespace trainyard::testing
