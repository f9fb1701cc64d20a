// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/compiler/target_clones.h"
#include "messages/half.h"

namespace trainyard::fused {

// The building blocks of the fused kernels: 64 bytes of float or double that are processed together. The compiler maps
// them to whatever registers the target has. Results do not depend on the number of threads.
//
// Vector extensions of the compiler are used instead of intrinsics, which gives one source for every processor,
// readable arithmetic, and no code path that is compiled only for processors on which it is never tested. Results can
// differ in the last bit between processors with and without fused multiply-add.

/// Compiles a kernel for three generations of x86; one is chosen when the library is loaded.
#define TRAINYARD_KERNEL TRAINYARD_TARGET_CLONES("default", "arch=x86-64-v3", "arch=x86-64-v4")
#define TRAINYARD_INLINE [[gnu::always_inline]] inline

/// The vector types for elements of type T, as gcc and clang provide them. An `Unaligned` can be at any address that is
/// valid for a T, and may alias it.
template <class T>
struct LanesOf {
  static constexpr int kCount = 64 / static_cast<int>(sizeof(T));
  using Value [[gnu::vector_size(64), gnu::aligned(64)]] = T;
  using Unaligned [[gnu::vector_size(64), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
};
/// A vector of 16 floats or 8 doubles.
template <class T>
using Lanes = typename LanesOf<T>::Value;
template <class T>
inline constexpr int kLanes = LanesOf<T>::kCount;

/// Loads lanes from any address. If the address is aligned, today's processors do this as fast as an aligned load.
template <class T>
TRAINYARD_INLINE Lanes<T> load(const T* from) {
  return *reinterpret_cast<const typename LanesOf<T>::Unaligned*>(from);
}

template <class T>
TRAINYARD_INLINE void store(T* to, Lanes<T> value) {
  *reinterpret_cast<typename LanesOf<T>::Unaligned*>(to) = value;
}

/// The bits of 16 floats, and those of 16 bfloat16 numbers at any address.
using FloatBits [[gnu::vector_size(64)]] = std::uint32_t;
using SignedBits [[gnu::vector_size(64)]] = std::int32_t;
using BFloat16Bits [[gnu::vector_size(32), gnu::aligned(alignof(BFloat16)), gnu::may_alias]] = std::uint16_t;

/// Loads 16 bfloat16 numbers as floats, which is exact.
TRAINYARD_INLINE Lanes<float> load(const BFloat16* from) {
  const FloatBits bits = __builtin_convertvector(*reinterpret_cast<const BFloat16Bits*>(from), FloatBits);
  return (Lanes<float>)(bits << 16);
}

/// Rounds 16 floats to bfloat16 and stores them. Rounds as the function for a single number in messages/half.h does.
TRAINYARD_INLINE void store(BFloat16* to, Lanes<float> value) {
  const auto bits = (FloatBits)value;
  // All bits are set for a NaN, which is made quiet and not rounded. The sign of a difference says so, because gcc
  // would compare 64 bytes number by number for processors whose registers are smaller.
  const auto is_nan = (FloatBits)((SignedBits)(0x7f800000u - (bits & 0x7fffffffu)) >> 31);
  const FloatBits up = ~is_nan & (0x7fffu + ((bits >> 16) & 1u));
  const FloatBits result = ((bits + up) | (is_nan & 0x400000u)) >> 16;
  *reinterpret_cast<BFloat16Bits*>(to) = __builtin_convertvector(result, BFloat16Bits);
}

/// Returns a vector with `value` in every lane.
template <class T>
TRAINYARD_INLINE Lanes<T> fill(T value) {
  return Lanes<T>{} + value;
}

/// Returns the sum of the lanes in a fixed order: halves are added to halves, so the result does not depend on the
/// register width for which the kernel is compiled.
template <class T>
TRAINYARD_INLINE T sum(Lanes<T> lanes) {
  T half[kLanes<T>];
  std::memcpy(half, &lanes, sizeof lanes);
  for (int width = kLanes<T> / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) half[i] += half[i + width];
  }
  return half[0];
}

/// Returns the value of the largest lane.
template <class T>
TRAINYARD_INLINE T maximum(Lanes<T> lanes) {
  T half[kLanes<T>];
  std::memcpy(half, &lanes, sizeof lanes);
  for (int width = kLanes<T> / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) half[i] = half[i] > half[i + width] ? half[i] : half[i + width];
  }
  return half[0];
}

}  // namespace trainyard::fused
