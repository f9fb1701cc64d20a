// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Conversions between float and 16-bit floating-point types. They use only operations on integers and floats, so the
// compiler needs no special instructions and can vectorise loops for every instruction set.
//
// The functions are static, so that every kernel that is compiled for several instruction sets has its own copies. The
// linker would merge functions with external linkage and keep any one of the copies. This could be a copy for an
// instruction set that the processor lacks.

namespace trainyard {

/// The bfloat16 type: the upper 16 bits of a float.
struct BFloat16 {
  std::uint16_t bits;
};

/// The half-precision type of IEEE 754.
struct Float16 {
  std::uint16_t bits;
};

/// Converts a bfloat16 number to float. The conversion is exact.
static inline float load(BFloat16 x) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(x.bits) << 16); }

/// Converts `x` to bfloat16 and stores the result in `to`. Rounds to the nearest value, and ties to even. A NaN keeps
/// its upper bits and is made quiet, so that it does not become infinity.
static inline void store(float x, BFloat16& to) {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40u;
  to.bits = static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

/// Converts a half-precision number to float. The biases of the two exponents differ by 112. Subnormal half-precision
/// numbers are small whole numbers times 2^-24. Infinity and NaN are preserved.
static inline float load(Float16 x) {
  const std::uint32_t magnitude = x.bits & 0x7fffu;
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000u) << 16;
  const std::uint32_t bias = magnitude >= 0x7c00u ? 224u << 23 : 112u << 23;
  const float normal = __builtin_bit_cast(float, (magnitude << 13) + bias);
  const float subnormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f;
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, magnitude < 0x400u ? subnormal : normal) | sign);
}

/// Converts `x` to half precision and stores the result in `to`. Rounds to the nearest value, and ties to even.
/// Magnitudes of 65520 and more become infinity; a NaN stays a NaN. If the result is subnormal, the addition of 0.5
/// rounds it, because the last bit of the sum stands for 2^-24, the smallest subnormal number.
static inline void store(float x, Float16& to) {
  const auto all = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t sign = (all >> 16) & 0x8000u;
  const std::uint32_t bits = all & 0x7fffffffu;
  const std::uint32_t normal = (bits - (112u << 23) + 0xfffu + ((bits >> 13) & 1u)) >> 13;
  const std::uint32_t subnormal =
      __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, bits) + 0.5f) - 0x3f000000u;
  const std::uint32_t special = bits > 0x7f800000u ? 0x7e00u : 0x7c00u;
  const std::uint32_t finite = bits < (113u << 23) ? subnormal : normal;
  to.bits = static_cast<std::uint16_t>(sign | (bits >= 0x477ff000u ? special : finite));
}

}  // namespace trainyard
