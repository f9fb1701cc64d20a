// SPDX-License-Identifier: Apache-2.0
#include "collectives/rank_order.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "messages/error.h"
#include "messages/half.h"

namespace trainyard::collectives {
namespace {

/// The number of elements that are reduced at a time, so that their sums stay in the cache.
constexpr std::uint64_t kBlock = 1024;

/// An element of type bool, so that the templates below can distinguish it from uint8.
struct Truth {
  std::uint8_t byte;
};

float widen(BFloat16 value) { return load(value); }
float widen(Float16 value) { return load(value); }
void narrow(float value, BFloat16& to) { store(value, to); }
void narrow(float value, Float16& to) { store(value, to); }

template <class T>
requires std::is_integral_v<T> std::int64_t widen(T value) { return value; }
template <class T>
requires std::is_floating_point_v<T> T widen(T value) { return value; }
std::int64_t widen(Truth value) { return value.byte != 0 ? 1 : 0; }

template <class From, class T>
requires std::is_arithmetic_v<T>
void narrow(From value, T& to) { to = static_cast<T>(value); }
template <class From>
void narrow(From value, Truth& to) {
  to.byte = value != 0 ? 1 : 0;
}

/// The type in which elements of type T are added.
template <class T>
using Sum = decltype(widen(T{}));

template <class T>
Sum<T> combine(ReduceOp op, Sum<T> a, Sum<T> b) {
  switch (op) {
    case ReduceOp::kMin:
      return a < b || a != a ? a : b;  // A NaN on any rank makes the result NaN.
    case ReduceOp::kMax:
      return a > b || a != a ? a : b;
    case ReduceOp::kProduct:
      if constexpr (std::is_integral_v<Sum<T>>) {
        return static_cast<Sum<T>>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      } else {
        return a * b;
      }
    default:
      if constexpr (std::is_integral_v<Sum<T>>) {  // A sum that is too large wraps around.
        return static_cast<Sum<T>>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
      } else {
        return a + b;
      }
  }
}

/// Returns one element of an array that need not be aligned, because the parts of a received message are not.
template <class T>
T element(const void* array, std::uint64_t index) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(array) + index * sizeof value, sizeof value);
  return value;
}

template <class T>
void reduce_typed(ReduceOp op, std::span<const void* const> inputs, void* output, std::uint64_t count) {
  std::array<Sum<T>, kBlock> sums;
  for (std::uint64_t begin = 0; begin < count; begin += kBlock) {
    const std::uint64_t n = std::min(kBlock, count - begin);
    for (std::uint64_t i = 0; i < n; ++i) sums[i] = widen(element<T>(inputs[0], begin + i));
    for (const void* input : inputs.subspan(1)) {
      for (std::uint64_t i = 0; i < n; ++i) sums[i] = combine<T>(op, sums[i], widen(element<T>(input, begin + i)));
    }
    if (op == ReduceOp::kMean) {
      const auto divisor = static_cast<Sum<T>>(inputs.size());
      for (std::uint64_t i = 0; i < n; ++i) sums[i] /= divisor;
    }
    auto* to = static_cast<T*>(output) + begin;
    for (std::uint64_t i = 0; i < n; ++i) narrow(sums[i], to[i]);
  }
}

/// Calls `action` with a value of the element type.
template <class Action>
void with_type(DType dtype, Action&& action) {
  switch (dtype) {
    case DType::kUInt8:
      return action(std::uint8_t{});
    case DType::kInt8:
      return action(std::int8_t{});
    case DType::kInt16:
      return action(std::int16_t{});
    case DType::kInt32:
      return action(std::int32_t{});
    case DType::kInt64:
      return action(std::int64_t{});
    case DType::kFloat16:
      return action(Float16{});
    case DType::kBFloat16:
      return action(BFloat16{});
    case DType::kFloat32:
      return action(float{});
    case DType::kFloat64:
      return action(double{});
    case DType::kBool:
      return action(Truth{});
  }
  throw Error(Code::kInvalidArgument, "{} is not an element type", static_cast<int>(dtype));
}

/// Converts elements from one type to another, and divides them on the way.
void convert(DType from_type, const void* from, DType to_type, void* to, std::uint64_t count, std::uint32_t divisor) {
  with_type(from_type, [&](auto a) {
    with_type(to_type, [&](auto b) {
      using A = decltype(a);
      using B = decltype(b);
      const auto* source = static_cast<const A*>(from);
      auto* target = static_cast<B*>(to);
      for (std::uint64_t i = 0; i < count; ++i) narrow(widen(source[i]) / static_cast<Sum<A>>(divisor), target[i]);
    });
  });
}

}  // namespace

void reduce_in_order(ReduceOp op, DType dtype, std::span<const void* const> inputs, void* output, std::uint64_t count) {
  with_type(dtype, [&](auto value) { reduce_typed<decltype(value)>(op, inputs, output, count); });
}

WorkingForm working_form(ReduceOp op, DType dtype, std::uint32_t ranks) {
  const bool mean = op == ReduceOp::kMean;
  const ReduceOp without_mean = mean ? ReduceOp::kSum : op;
  const std::uint32_t divisor = mean ? ranks : 1;
  switch (dtype) {
    case DType::kBool: {
      const bool any = op == ReduceOp::kSum || op == ReduceOp::kMax;
      return {DType::kUInt8, any ? ReduceOp::kMax : ReduceOp::kMin, 1};
    }
    case DType::kFloat16:
    case DType::kBFloat16:
      return {DType::kFloat32, without_mean, divisor};
    case DType::kFloat32:
    case DType::kFloat64:
      return {dtype, without_mean, divisor};
    default:
      if (mean) return {DType::kInt64, without_mean, divisor};  // The sum may be too large for the type.
      return {dtype == DType::kInt16 ? DType::kInt32 : dtype, op, 1};
  }
}

void to_working_form(const WorkingForm& form, DType dtype, const void* from, void* to, std::uint64_t count) {
  convert(dtype, from, form.dtype, to, count, 1);
}

void from_working_form(const WorkingForm& form, DType dtype, const void* from, void* to, std::uint64_t count) {
  convert(form.dtype, from, dtype, to, count, form.divisor);
}

}  // namespace trainyard::collectives
