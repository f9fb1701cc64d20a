// SPDX-License-Identifier: Apache-2.0
#include "tensors/fused/pointwise_kernel.h"

#include <algorithm>

#include "tensors/fused/exponential.h"
#include "tensors/fused/lanes.h"

namespace trainyard::fused {

// At the end of the file there is one function for each kernel and type, which TRAINYARD_KERNEL compiles for several
// processors. The templates before it must be inlined into it: a function that is not inlined would be compiled only
// for the oldest processor, without wide registers.

namespace {

constexpr double kInverseSqrt2 = 0.70710678118654752440;
constexpr double kInverseSqrt2Pi = 0.39894228040143267794;

/// The density and the distribution function of the standard normal distribution at x, from which GELU and its
/// derivative are computed.
template <class T>
struct Normal {
  Lanes<T> density;     ///< exp(-x^2 / 2) / sqrt(2 pi)
  Lanes<T> cumulative;  ///< Phi(x)
};

/// Uses formula 7.1.26 of Abramowitz and Stegun, "Handbook of Mathematical Functions" (absolute error below 1.5e-7).
/// Its exponential is also needed for the density.
TRAINYARD_INLINE Normal<float> normal(Lanes<float> x) {
  const Lanes<float> power = exponential<float>(x * x * -0.5F);
  const Lanes<float> size = x < 0 ? -x : x;
  const Lanes<float> t = 1.0F / (1.0F + size * static_cast<float>(0.3275911 * kInverseSqrt2));
  const Lanes<float> series =
      t * (0.254829592F + t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
  const Lanes<float> tail = series * power * 0.5F;
  return {power * static_cast<float>(kInverseSqrt2Pi), x < 0 ? tail : 1.0F - tail};
}

/// Uses the library's erfc for one element at a time. Double precision is for tests and reference runs, where accuracy
/// matters more than time.
TRAINYARD_INLINE Normal<double> normal(Lanes<double> x) {
  Normal<double> result;
  for (int i = 0; i < kLanes<double>; ++i) {
    result.density[i] = std::exp(x[i] * x[i] * -0.5) * kInverseSqrt2Pi;
    result.cumulative[i] = 0.5 * std::erfc(-x[i] * kInverseSqrt2);
  }
  return result;
}

/// d(x Phi(x)) / dx = Phi(x) + x phi(x).
template <class T, class S>
TRAINYARD_INLINE void gelu(std::int64_t count, const S* x, S* y, S* derivative) {
  for (std::int64_t i = 0; i < count; i += kLanes<T>) {
    const Lanes<T> value = load(x + i);
    const Normal<T> at = normal(value);
    store(y + i, value * at.cumulative);
    if (derivative) store(derivative + i, at.cumulative + value * at.density);
  }
}

template <class T, class S>
TRAINYARD_INLINE void multiply(std::int64_t count, const S* a, const S* b, S* product) {
  for (std::int64_t i = 0; i < count; i += kLanes<T>) store(product + i, load(a + i) * load(b + i));
}

/// Computes the mean first and then the squared distances from it, because E[x^2] - E[x]^2 would lose most digits in
/// float.
template <class T, class S>
TRAINYARD_INLINE void norm_rows(std::int64_t begin, std::int64_t end, const NormForward<T, S>& work) {
  const T share = static_cast<T>(1.0 / static_cast<double>(work.width));
  for (std::int64_t row = begin; row < end; ++row) {
    const T* values = work.x + row * work.width;
    // The sum is written here; the following loops read it from the cache.
    if (work.added) {
      T* sums = work.sum + row * work.width;
      const S* added = work.added + row * work.width;
      for (std::int64_t c = 0; c < work.width; c += kLanes<T>) store(sums + c, load(values + c) + load(added + c));
      values = sums;
    }
    Lanes<T> total{};
    for (std::int64_t c = 0; c < work.width; c += kLanes<T>) total += load(values + c);
    const T mean = sum<T>(total) * share;
    Lanes<T> squares{};
    for (std::int64_t c = 0; c < work.width; c += kLanes<T>) {
      const Lanes<T> centred = load(values + c) - mean;
      squares += centred * centred;
    }
    // There is one division per row; the rest are multiplications.
    const T inverse = 1 / std::sqrt(sum<T>(squares) * share + static_cast<T>(work.epsilon));
    S* y = work.y + row * work.width;
    for (std::int64_t c = 0; c < work.width; c += kLanes<T>) {
      const Lanes<T> scaled = (load(values + c) - mean) * inverse * load(work.gain + c);
      store(y + c, work.bias ? scaled + load(work.bias + c) : scaled);
    }
    work.statistics[2 * row] = mean;
    work.statistics[2 * row + 1] = inverse;
  }
}

/// dx = (g - mean(g) - n mean(g n)) / deviation, where n is the normalised row and g = dy * gain.
template <class T, class S>
TRAINYARD_INLINE void norm_rows_backward(std::int64_t begin, std::int64_t end, const NormBackward<T, S>& work,
                                         T* gain_gradient, T* bias_gradient) {
  const T share = static_cast<T>(1.0 / static_cast<double>(work.width));
  for (std::int64_t row = begin; row < end; ++row) {
    const T mean = work.statistics[2 * row];
    const T inverse = work.statistics[2 * row + 1];
    const T* values = work.sum + row * work.width;
    const S* above = work.y_gradient + row * work.width;
    Lanes<T> total{};
    Lanes<T> products{};
    for (std::int64_t c = 0; c < work.width; c += kLanes<T>) {
      const Lanes<T> normalised = (load(values + c) - mean) * inverse;
      const Lanes<T> gradient = load(above + c);
      const Lanes<T> inner = gradient * load(work.gain + c);
      total += inner;
      products += inner * normalised;
      store(gain_gradient + c, load(gain_gradient + c) + gradient * normalised);
      if (bias_gradient) store(bias_gradient + c, load(bias_gradient + c) + gradient);
    }
    const T mean_gradient = sum<T>(total) * share;
    const T mean_product = sum<T>(products) * share;
    const T* direct = work.sum_gradient ? work.sum_gradient + row * work.width : nullptr;
    T* result = work.result + row * work.width;
    S* added_result = work.added_result ? work.added_result + row * work.width : nullptr;
    for (std::int64_t c = 0; c < work.width; c += kLanes<T>) {
      const Lanes<T> normalised = (load(values + c) - mean) * inverse;
      const Lanes<T> inner = load(above + c) * load(work.gain + c);
      const Lanes<T> gradient = (inner - mean_gradient - normalised * mean_product) * inverse;
      const Lanes<T> total_gradient = direct ? gradient + load(direct + c) : gradient;
      store(result + c, total_gradient);
      if (added_result) store(added_result + c, total_gradient);
    }
  }
}

/// Processes whole vectors first. The remaining classes are copied into a vector and padded.
template <class T>
TRAINYARD_INLINE double softmax(std::int64_t classes, const T* logits, std::int64_t target, T* probabilities) {
  const T highest = *std::max_element(logits, logits + classes);
  const std::int64_t whole = classes / kLanes<T> * kLanes<T>;
  T rest[kLanes<T>];
  // The padding is the maximum, so its exponentials are 1. They are not used, but they must not overflow.
  for (std::int64_t c = 0; c < kLanes<T>; ++c) rest[c] = whole + c < classes ? logits[whole + c] : highest;
  const Lanes<T> rest_powers = exponential<T>(load(rest) - highest);
  Lanes<T> totals{};
  for (std::int64_t c = 0; c < whole; c += kLanes<T>) {
    const Lanes<T> powers = exponential<T>(load(logits + c) - highest);
    store(probabilities + c, powers);
    totals += powers;
  }
  T total = sum<T>(totals);
  for (std::int64_t c = whole; c < classes; ++c) total += probabilities[c] = rest_powers[c - whole];
  const T inverse = 1 / total;
  // This is -log p of the right class, without computing p, which could underflow to 0.
  const double loss = std::log(static_cast<double>(total)) - static_cast<double>(logits[target] - highest);
  for (std::int64_t c = 0; c < classes; ++c) probabilities[c] *= inverse;
  return loss;
}

}  // namespace

TRAINYARD_KERNEL void gelu_forward(std::int64_t count, const float* x, float* y, float* derivative) {
  gelu<float, float>(count, x, y, derivative);
}
TRAINYARD_KERNEL void gelu_forward(std::int64_t count, const double* x, double* y, double* derivative) {
  gelu<double, double>(count, x, y, derivative);
}
TRAINYARD_KERNEL void gelu_forward(std::int64_t count, const BFloat16* x, BFloat16* y, BFloat16* derivative) {
  gelu<float, BFloat16>(count, x, y, derivative);
}

TRAINYARD_KERNEL void gelu_backward(std::int64_t count, const float* derivative, const float* y_gradient,
                                    float* x_gradient) {
  multiply<float>(count, derivative, y_gradient, x_gradient);
}
TRAINYARD_KERNEL void gelu_backward(std::int64_t count, const double* derivative, const double* y_gradient,
                                    double* x_gradient) {
  multiply<double>(count, derivative, y_gradient, x_gradient);
}
TRAINYARD_KERNEL void gelu_backward(std::int64_t count, const BFloat16* derivative, const BFloat16* y_gradient,
                                    BFloat16* x_gradient) {
  multiply<float>(count, derivative, y_gradient, x_gradient);
}
TRAINYARD_KERNEL void add_widened(std::int64_t count, const BFloat16* numbers, float* sums) {
  for (std::int64_t i = 0; i < count; i += kLanes<float>) store(sums + i, load(sums + i) + load(numbers + i));
}
TRAINYARD_KERNEL void norm_forward(std::int64_t begin, std::int64_t end, const NormForward<float>& work) {
  norm_rows(begin, end, work);
}
TRAINYARD_KERNEL void norm_forward(std::int64_t begin, std::int64_t end, const NormForward<double>& work) {
  norm_rows(begin, end, work);
}
TRAINYARD_KERNEL void norm_forward(std::int64_t begin, std::int64_t end, const NormForward<float, BFloat16>& work) {
  norm_rows(begin, end, work);
}
TRAINYARD_KERNEL void norm_backward(std::int64_t begin, std::int64_t end, const NormBackward<float>& work,
                                    float* gain_gradient, float* bias_gradient) {
  norm_rows_backward(begin, end, work, gain_gradient, bias_gradient);
}
TRAINYARD_KERNEL void norm_backward(std::int64_t begin, std::int64_t end, const NormBackward<double>& work,
                                    double* gain_gradient, double* bias_gradient) {
  norm_rows_backward(begin, end, work, gain_gradient, bias_gradient);
}
TRAINYARD_KERNEL void norm_backward(std::int64_t begin, std::int64_t end, const NormBackward<float, BFloat16>& work,
                                    float* gain_gradient, float* bias_gradient) {
  norm_rows_backward(begin, end, work, gain_gradient, bias_gradient);
}
TRAINYARD_KERNEL double softmax_row(std::int64_t classes, const float* logits, std::int64_t target,
                                    float* probabilities) {
  return softmax<float>(classes, logits, target, probabilities);
}
TRAINYARD_KERNEL double softmax_row(std::int64_t classes, const double* logits, std::int64_t target,
                                    double* probabilities) {
  return softmax<double>(classes, logits, target, probabilities);
}

}  // namespace trainyard::fused
