// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "tensors/fused/lanes.h"

namespace trainyard::fused {

/// The constants that exponential() needs for one floating-point type.
template <class T>
struct ExponentialOf;

template <>
struct ExponentialOf<float> {
  using Bits [[gnu::vector_size(64)]] = std::int32_t;
  static constexpr float kLowest = -87.0F, kHighest = 88.0F;
  static constexpr float kRound = 12582912.0F;  ///< 1.5 * 2^23: adding it leaves an integer in the mantissa.
  static constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
  static constexpr int kMantissaBits = 23, kDegree = 7;
};

template <>
struct ExponentialOf<double> {
  using Bits [[gnu::vector_size(64)]] = std::int64_t;
  static constexpr double kLowest = -708.0, kHighest = 709.0;
  static constexpr double kRound = 6755399441055744.0;  ///< 1.5 * 2^52.
  static constexpr double kLn2High = 6.93145751953125e-1, kLn2Low = 1.42860682030941723212e-6;
  static constexpr int kMantissaBits = 52, kDegree = 13;
};

/// The coefficients of the Taylor series, 1 / i!.
template <class T>
inline constexpr auto kInverseFactorial = [] {
  std::array<T, ExponentialOf<T>::kDegree + 1> all{};
  double factorial = 1;
  for (int i = 0; i <= ExponentialOf<T>::kDegree; ++i) {
    if (i > 0) factorial *= i;
    all[static_cast<std::size_t>(i)] = static_cast<T>(1 / factorial);
  }
  return all;
}();

/// Returns e^x, accurate to the last digit or two of T; arguments outside the range from kLowest to kHighest produce
/// the result for the nearer bound. The function splits x = n ln 2 + r with |r| <= ln 2 / 2, computes e^r by its Taylor
/// series, and puts 2^n into the bits of the exponent. ln 2 is used in two parts, so that n ln 2 is subtracted without
/// loss (Cody and Waite, "Software Manual for the Elementary Functions", 1980).
template <class T>
TRAINYARD_INLINE Lanes<T> exponential(Lanes<T> x) {
  using Of = ExponentialOf<T>;
  using Bits = typename Of::Bits;
  x = x < fill<T>(Of::kLowest) ? fill<T>(Of::kLowest) : x;
  x = x > fill<T>(Of::kHighest) ? fill<T>(Of::kHighest) : x;
  // This rounds to the nearest integer without a rounding instruction, because the sum has no bits left for a fraction.
  const Lanes<T> shifted = x * static_cast<T>(1.44269504088896340736) + Of::kRound;
  const Lanes<T> n = shifted - Of::kRound;
  const Lanes<T> r = x - n * Of::kLn2High - n * Of::kLn2Low;
  // This is Horner's rule for the sum of r^i / i!.
  Lanes<T> power = fill<T>(kInverseFactorial<T>[Of::kDegree]);
  for (int i = Of::kDegree - 1; i >= 0; --i) power = power * r + kInverseFactorial<T>[i];
  // The low bits of `shifted` are n; added to the exponent's field they multiply by 2^n. A C cast between vectors of
  // one size does not change the bits.
  return (Lanes<T>)((Bits)power + ((Bits)shifted << Of::kMantissaBits));
}

}  // namespace trainyard::fused
