// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/compiler/target_clones.h"

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

/// Returns a vector whose elements are all `value`.
template <class T>
TRAINYARD_INLINE Lanes<T> fill(T value) {
  return Lanes<T>{} + value;
}

/// Returns the sum of the elements. They are always added in the same order (the second half to the first half, and so
/// on), so the result does not depend on the register width for which the kernel is compiled.
template <class T>
TRAINYARD_INLINE T sum(Lanes<T> lanes) {
  T half[kLanes<T>];
  std::memcpy(half, &lanes, sizeof lanes);
  for (int width = kLanes<T> / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) half[i] += half[i + width];
  }
  return half[0];
}

/// Returns the largest element.
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
