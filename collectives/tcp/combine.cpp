// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/combine.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "messages/half.h"

namespace trainyard::tcp {
namespace {

/// The number of elements that are processed at a time, so that intermediate results stay in the cache.
constexpr std::uint64_t kBlock = 1024;

float number(float value) { return value; }
double number(double value) { return value; }
float number(Float16 value) { return load(value); }
float number(BFloat16 value) { return load(value); }
void put(float value, float& to) { to = value; }
void put(double value, double& to) { to = value; }
void put(float value, Float16& to) { store(value, to); }
void put(float value, BFloat16& to) { store(value, to); }

/// Adds floating-point numbers in a single pass, because nearly all reductions are such sums.
template <class T, class Sum, class To>
void add_numbers(const void* partial, const void* own, void* to, std::uint64_t count, Sum divisor) {
  const auto* a = static_cast<const Sum*>(partial);
  const auto* b = static_cast<const T*>(own);
  auto* sums = static_cast<To*>(to);
  if (divisor == 1) {
#pragma GCC ivdep
    for (std::uint64_t i = 0; i < count; ++i) put(a[i] + number(b[i]), sums[i]);
  } else {
#pragma GCC ivdep
    for (std::uint64_t i = 0; i < count; ++i) put((a[i] + number(b[i])) / divisor, sums[i]);
  }
}

/// Returns false if there is no single pass for elements of this type. The order of the two operands is ignored,
/// because it does not change the bits of a sum.
bool add_fast(DType dtype, bool last, const void* partial, const void* own, void* to, std::uint64_t count,
              std::uint32_t divisor) {
  const auto parts = static_cast<float>(divisor);
  switch (dtype) {
    case DType::kFloat32:
      add_numbers<float, float, float>(partial, own, to, count, parts);
      return true;
    case DType::kFloat64:
      add_numbers<double, double, double>(partial, own, to, count, static_cast<double>(divisor));
      return true;
    case DType::kFloat16:
      if (last) add_numbers<Float16, float, Float16>(partial, own, to, count, parts);
      if (!last) add_numbers<Float16, float, float>(partial, own, to, count, parts);
      return true;
    case DType::kBFloat16:
      if (last) add_numbers<BFloat16, float, BFloat16>(partial, own, to, count, parts);
      if (!last) add_numbers<BFloat16, float, float>(partial, own, to, count, parts);
      return true;
    default:
      return false;
  }
}

const std::byte* at(const void* memory, std::uint64_t bytes) { return static_cast<const std::byte*>(memory) + bytes; }
std::byte* at(void* memory, std::uint64_t bytes) { return static_cast<std::byte*>(memory) + bytes; }

}  // namespace

void Combination::begin(const void* own, void* partial, std::uint64_t count) const {
  collectives::to_working_form(form_, dtype_, own, partial, count);
}

void Combination::add(const void* partial, const void* own, void* to, std::uint64_t count, First first) const {
  if (form_.op == ReduceOp::kSum && add_fast(dtype_, false, partial, own, to, count, 1)) return;
  alignas(64) std::array<std::byte, kBlock * 8> converted;
  const std::size_t wide = size_of(form_.dtype);
  for (std::uint64_t begin = 0; begin < count; begin += kBlock) {
    const std::uint64_t n = std::min(kBlock, count - begin);
    collectives::to_working_form(form_, dtype_, at(own, begin * size_of(dtype_)), converted.data(), n);
    std::array<const void*, 2> inputs{at(partial, begin * wide), converted.data()};
    if (first == First::kOwn) std::swap(inputs[0], inputs[1]);
    collectives::reduce_in_order(form_.op, form_.dtype, inputs, at(to, begin * wide), n);
  }
}

void Combination::add_last(const void* partial, const void* own, void* to, std::uint64_t count, First first) const {
  if (form_.op == ReduceOp::kSum && add_fast(dtype_, true, partial, own, to, count, form_.divisor)) return;
  alignas(64) std::array<std::byte, kBlock * 8> result;
  const std::size_t narrow = size_of(dtype_);
  for (std::uint64_t begin = 0; begin < count; begin += kBlock) {
    const std::uint64_t n = std::min(kBlock, count - begin);
    add(at(partial, begin * size_of(form_.dtype)), at(own, begin * narrow), result.data(), n, first);
    collectives::from_working_form(form_, dtype_, result.data(), at(to, begin * narrow), n);
  }
}

}  // namespace trainyard::tcp
