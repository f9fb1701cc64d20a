// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/compiler/target_clones.h"
#include "messages/half.h"

namespace trainyard::fused {

// The building blocks of the fused kernels: vectors of 64 bytes (16 floats or 8 doubles), whose elements, the lanes,
// are processed together. The compiler maps the vectors to whatever registers the target has.
//
// The kernels use the compiler's vector extensions instead of intrinsics. The same readable source therefore serves
// every processor, and no code path exists only for processors on which it is never tested. Results can differ in the
// last bit between processors with and without fused multiply-add.

/// Compiles a function three times, for three generations of x86 processors. The version for this processor is chosen
/// when the library is loaded.
#define TRAINYARD_KERNEL TRAINYARD_TARGET_CLONES("default", "arch=x86-64-v3", "arch=x86-64-v4")
#define TRAINYARD_INLINE [[gnu::always_inline]] inline

/// The vector types for elements of type T, made with the vector extensions of gcc and clang. A `Value` is aligned to
/// 64 bytes. An `Unaligned` can be at any address that is valid for a T, and may alias arrays of T.
template <class T>
struct LanesOf {
  static constexpr int kCount = 64 / static_cast<int>(sizeof(T));
  using Value [[gnu::vector_size(64), gnu::aligned(64)]] = T;
  using Unaligned [[gnu::vector_size(64), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
};
/// There are no vectors of bfloat16 numbers: load() and store() below convert them to and from floats.
template <>
struct LanesOf<BFloat16> {};
/// A vector of 16 floats or 8 doubles.
template <class T>
using Lanes = typename LanesOf<T>::Value;
template <class T>
inline constexpr int kLanes = LanesOf<T>::kCount;

/// Loads a vector from any address. If the address happens to be aligned to 64 bytes, this is as fast as an aligned
/// load on today's processors.
template <class T>
TRAINYARD_INLINE Lanes<T> load(const T* from) {
  return *reinterpret_cast<const typename LanesOf<T>::Unaligned*>(from);
}

template <class T>
TRAINYARD_INLINE void store(T* to, Lanes<T> value) {
  *reinterpret_cast<typename LanesOf<T>::Unaligned*>(to) = value;
}

/// The bits of 16 floats, as unsigned numbers.
using FloatBits [[gnu::vector_size(64)]] = std::uint32_t;
/// The bits of 16 floats, as signed numbers.
using SignedBits [[gnu::vector_size(64)]] = std::int32_t;
/// The bits of 16 bfloat16 numbers, at any address that is valid for a BFloat16.
using BFloat16Bits [[gnu::vector_size(32), gnu::aligned(alignof(BFloat16)), gnu::may_alias]] = std::uint16_t;

/// Loads 16 bfloat16 numbers and converts them to floats, which is exact.
TRAINYARD_INLINE Lanes<float> load(const BFloat16* from) {
  const FloatBits bits = __builtin_convertvector(*reinterpret_cast<const BFloat16Bits*>(from), FloatBits);
  return (Lanes<float>)(bits << 16);
}

/// Rounds 16 floats to bfloat16 and stores them. Rounds in the same way as the function for a single number in
/// messages/half.h.
TRAINYARD_INLINE void store(BFloat16* to, Lanes<float> value) {
  const auto bits = (FloatBits)value;
  // All bits of the mask are set for a NaN, which is made quiet and is not rounded. The mask is made from the sign of a
  // difference and not with a comparison, because for processors with smaller registers gcc would compare the 64 bytes
  // number by number.
  const auto is_nan = (FloatBits)((SignedBits)(0x7f800000u - (bits & 0x7fffffffu)) >> 31);
  const FloatBits up = ~is_nan & (0x7fffu + ((bits >> 16) & 1u));
  const FloatBits result = ((bits + up) | (is_nan & 0x400000u)) >> 16;
  *reinterpret_cast<BFloat16Bits*>(to) = __builtin_convertvector(result, BFloat16Bits);
}

/// Returns a vector whose elements are all `value`.
template <class T>
TRAINYARD_INLINE Lanes<T> fill(T value) {
  return Lanes<T>{} + value;
}

/// Returns a vector whose first W elements are the elements W to 2 W - 1 of `lanes`. The other elements have no
/// meaning.
template <int W, class T>
TRAINYARD_INLINE Lanes<T> shifted_down(Lanes<T> lanes) {
  if constexpr (kLanes<T> == 16) {
    constexpr auto at = [](int i) { return i < W ? i + W : i; };
    return __builtin_shufflevector(lanes, lanes, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9),
                                   at(10), at(11), at(12), at(13), at(14), at(15));
  } else {
    constexpr auto at = [](int i) { return i < W ? i + W : i; };
    return __builtin_shufflevector(lanes, lanes, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7));
  }
}

/// Returns the sum of the elements. They are always added in the same order (the second half to the first half, and so
/// on), so the result does not depend on the register width for which the kernel is compiled.
template <class T>
TRAINYARD_INLINE T sum(Lanes<T> lanes) {
  if constexpr (kLanes<T> == 16) lanes += shifted_down<8, T>(lanes);
  lanes += shifted_down<4, T>(lanes);
  lanes += shifted_down<2, T>(lanes);
  lanes += shifted_down<1, T>(lanes);
  return lanes[0];
}

/// Returns the largest element.
template <class T>
TRAINYARD_INLINE T maximum(Lanes<T> lanes) {
  const auto larger = [](Lanes<T> a, Lanes<T> b) { return a > b ? a : b; };
  if constexpr (kLanes<T> == 16) lanes = larger(lanes, shifted_down<8, T>(lanes));
  lanes = larger(lanes, shifted_down<4, T>(lanes));
  lanes = larger(lanes, shifted_down<2, T>(lanes));
  lanes = larger(lanes, shifted_down<1, T>(lanes));
  return lanes[0];
}

}  // namespace trainyard::fused
