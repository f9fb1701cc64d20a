// SPDX-License-Identifier: Apache-2.0
#pragma once

// The loops that reduce elements, written so that gcc vectorises them. Only one .cpp file for each instruction set
// includes this file.
//
// Everything is in an unnamed namespace, and no library function is used. If two files compiled the same function with
// external linkage for different instruction sets, the linker would keep only one version, and the processor might not
// be able to run it.

#include <cstdint>
#include <type_traits>

#include "collectives/shared_memory/kernels.h"
#include "messages/half.h"

namespace trainyard::shared_memory {
namespace {

/// The number of elements in a tile. Elements are combined and written tile by tile, so that the sums of a tile stay in
/// the first-level cache.
constexpr std::size_t kTile = 1024;

/// The type used for arithmetic on elements of type T: int64 for integers, float for 16-bit floats, otherwise T.
template <class T>
using Arithmetic =
    std::conditional_t<std::is_integral_v<T>, std::int64_t, std::conditional_t<sizeof(T) == 2, float, T>>;

// load() converts a stored number for arithmetic, and store() converts it back. The conversions of 16-bit floats are in
// messages/half.h.
inline float load(float x) { return x; }
inline double load(double x) { return x; }
inline void store(float x, float& to) { to = x; }
inline void store(double x, double& to) { to = x; }
template <class T>
requires std::is_integral_v<T>
inline std::int64_t load(T x) { return static_cast<std::int64_t>(x); }
template <class T>
requires std::is_integral_v<T>
inline void store(std::int64_t x, T& to) { to = static_cast<T>(x); }

struct Sum {
  template <class A>
  static A combine(A a, A b) {
    return a + b;
  }
};
struct Product {
  template <class A>
  static A combine(A a, A b) {
    return a * b;
  }
};
// The first comparison is false if b is NaN; the second is true if a is NaN.
struct Min {
  template <class A>
  static A combine(A a, A b) {
    return a < b || a != a ? a : b;
  }
};
struct Max {
  template <class A>
  static A combine(A a, A b) {
    return a > b || a != a ? a : b;
  }
};

/// Combines `count` elements of the first kInputs inputs, starting at element `at`, and writes the results to `sums`.
template <class Op, std::size_t kInputs, class T, class A>
void combine_first(A* __restrict sums, const void* const* inputs, std::size_t at, std::size_t count) {
  const T* a = static_cast<const T*>(inputs[0]) + at;
  const T* b = static_cast<const T*>(inputs[1]) + at;
  const T* c = kInputs > 2 ? static_cast<const T*>(inputs[2]) + at : nullptr;
  const T* d = kInputs > 3 ? static_cast<const T*>(inputs[3]) + at : nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    A x = Op::combine(load(a[i]), load(b[i]));
    if constexpr (kInputs > 2) x = Op::combine(x, load(c[i]));
    if constexpr (kInputs > 3) x = Op::combine(x, load(d[i]));
    sums[i] = x;
  }
}

template <class Op, class T, class A>
void combine_all(A* __restrict sums, const void* const* inputs, std::size_t inputs_count, std::size_t at,
                 std::size_t count) {
  if (inputs_count == 2) return combine_first<Op, 2, T>(sums, inputs, at, count);
  if (inputs_count == 3) return combine_first<Op, 3, T>(sums, inputs, at, count);
  combine_first<Op, 4, T>(sums, inputs, at, count);
  for (std::size_t k = 4; k < inputs_count; ++k) {
    const T* next = static_cast<const T*>(inputs[k]) + at;
    for (std::size_t i = 0; i < count; ++i) sums[i] = Op::combine(sums[i], load(next[i]));
  }
}

/// Combines kRuns inputs into kRuns outputs in one pass: each result is written directly to all outputs, without the
/// intermediate array that reduce() uses.
template <class Op, bool kMean, std::size_t kRuns, class T, class A = Arithmetic<T>>
void combine_and_spread(const void* const* inputs, void* const* outputs, std::size_t count) {
  const T* in[4] = {};
  T* out[4] = {};
  for (std::size_t k = 0; k < kRuns; ++k) {
    in[k] = static_cast<const T*>(inputs[k]);
    out[k] = static_cast<T*>(outputs[k]);
  }
  // An input and an output are either the same array or do not overlap.
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    A x = Op::combine(load(in[0][i]), load(in[1][i]));
    if constexpr (kRuns > 2) x = Op::combine(x, load(in[2][i]));
    if constexpr (kRuns > 3) x = Op::combine(x, load(in[3][i]));
    if constexpr (kMean) x /= static_cast<A>(kRuns);
    T rounded;
    store(x, rounded);
    out[0][i] = rounded;
    out[1][i] = rounded;
    if constexpr (kRuns > 2) out[2][i] = rounded;
    if constexpr (kRuns > 3) out[3][i] = rounded;
  }
}

template <class Op, bool kMean, class T, class A = Arithmetic<T>>
void reduce(const void* const* inputs, std::size_t input_count, void* const* outputs, std::size_t output_count,
            std::size_t elements) {
  if constexpr (!std::is_integral_v<T>) {
    if (input_count == output_count && input_count <= 4) {
      if (input_count == 2) return combine_and_spread<Op, kMean, 2, T>(inputs, outputs, elements);
      if (input_count == 3) return combine_and_spread<Op, kMean, 3, T>(inputs, outputs, elements);
      return combine_and_spread<Op, kMean, 4, T>(inputs, outputs, elements);
    }
  }
  alignas(64) A sums[kTile];
  alignas(64) T rounded[kTile];
  for (std::size_t at = 0; at < elements; at += kTile) {
    const std::size_t count = elements - at < kTile ? elements - at : kTile;
    combine_all<Op, T>(sums, inputs, input_count, at, count);
    if constexpr (kMean) {
      for (std::size_t i = 0; i < count; ++i) sums[i] /= static_cast<A>(input_count);
    }
    const void* result = sums;
    if constexpr (!std::is_same_v<T, A>) {
      for (std::size_t i = 0; i < count; ++i) store(sums[i], rounded[i]);
      result = rounded;
    }
    for (std::size_t k = 0; k < output_count; ++k) {
      __builtin_memcpy(static_cast<T*>(outputs[k]) + at, result, count * sizeof(T));
    }
  }
}

/// Fills in the kernels of the element type T, in the order of ReduceOp.
template <class T>
constexpr void fill(Reduce* kernels) {
  kernels[0] = reduce<Sum, false, T>;
  kernels[1] = reduce<Sum, true, T>;
  kernels[2] = reduce<Min, false, T>;
  kernels[3] = reduce<Max, false, T>;
  kernels[4] = reduce<Product, false, T>;
}

/// Returns a set with this name that contains the kernels of every type, in the order of DType.
constexpr KernelSet kernels_named(const char* name) {
  KernelSet set{name, {}};
  fill<std::uint8_t>(set.reduce[0]);
  fill<std::int8_t>(set.reduce[1]);
  fill<std::int16_t>(set.reduce[2]);
  fill<std::int32_t>(set.reduce[3]);
  fill<std::int64_t>(set.reduce[4]);
  fill<Float16>(set.reduce[5]);
  fill<BFloat16>(set.reduce[6]);
  fill<float>(set.reduce[7]);
  fill<double>(set.reduce[8]);
  fill<std::uint8_t>(set.reduce[9]);
  Reduce* of_bool = set.reduce[9];
  of_bool[0] = of_bool[3];
  of_bool[1] = nullptr;
  of_bool[4] = of_bool[2];
  return set;
}

}  // namespace
}  // namespace trainyard::shared_memory
