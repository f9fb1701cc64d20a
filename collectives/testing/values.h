#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/collective.h"

namespace trainyard::testing {

/// All element types and operations.
const std::vector<DType>& all_dtypes();
const std::vector<ReduceOp>& all_ops();

/// Elements of any type that are written and read as numbers, as a plain oracle does.
class Values {
 public:
  Values(DType dtype, std::uint64_t count) : dtype_(dtype), bytes_((count + 1) * size_of(dtype)), count_(count) {}

  /// The elements begin one element behind the start of the memory, so nothing is aligned to more than an element.
  Elements elements() { return {bytes_.data() + size_of(dtype_), dtype_, count_}; }
  double get(std::uint64_t i) const;
  void set(std::uint64_t i, double value);
  std::uint64_t size() const { return count_; }
  /// All bytes, for comparison.
  std::string text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  const std::byte* at(std::uint64_t i) const { return bytes_.data() + (i + 1) * size_of(dtype_); }

  DType dtype_;
  std::vector<std::byte> bytes_;
  std::uint64_t count_;
};

/// What rank `rank` has at place `i`: a small, positive value that differs for each rank; whole for whole types, and 0
/// or 1 for truth values. No reduction of four ranks overflows.
double sample(DType dtype, std::uint32_t rank, std::uint64_t i);

/// The plain reduction of what all ranks have at place `i`.
double reduced(ReduceOp op, DType dtype, std::uint32_t ranks, std::uint64_t i);

/// Throws, naming `what` and the place, if a value differs from the expected one by more than the type allows.
void expect_near(const std::string& what, DType dtype, std::uint64_t i, double got, double wanted);

}  // namespace trainyard::testing
