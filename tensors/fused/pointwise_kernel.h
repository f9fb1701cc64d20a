#pragma once

#include <cstdint>

namespace trainyard::fused {

// Kernels over rows and single numbers. `width` is a multiple of 16 everywhere. Pointers may have any alignment of
// their type, and outputs may not overlap inputs. On the caller's thread; different rows may be worked on by several.

/// y = x Phi(x), and its derivative where wanted (null: not): both share the exponential, so that going backward is one
/// multiplication. The float version is exact to 2e-7, the double one to the last digits.
void gelu_forward(std::int64_t count, const float* x, float* y, float* derivative);
/// `count` is a multiple of 16.
void gelu_forward(std::int64_t count, const double* x, double* y, double* derivative);

/// sum = x + added (null: x alone, nothing is written to `sum`), y = (sum - mean) / deviation * gain + bias, by rows.
/// `bias` may be null. `statistics` receives mean and 1 / deviation of every row.
template <class T>
struct NormForward {
  std::int64_t width;
  const T* x;
  const T* added;
  const T* gain;
  const T* bias;
  double epsilon;
  T* sum;
  T* y;
  T* statistics;
};
/// Rows begin to end, end excluded.
void norm_forward(std::int64_t begin, std::int64_t end, const NormForward<float>& work);
/// In double, for tests and reference runs.
void norm_forward(std::int64_t begin, std::int64_t end, const NormForward<double>& work);

/// The gradient of `sum` (to which `sum_gradient`, if not null, is added) and, summed over the rows begin to end, of
/// gain and bias. These two are added to what is there, so that the caller decides how rows are summed together.
template <class T>
struct NormBackward {
  std::int64_t width;
  const T* sum;
  const T* statistics;
  const T* gain;
  const T* y_gradient;
  const T* sum_gradient;
  T* result;
};
void norm_backward(std::int64_t begin, std::int64_t end, const NormBackward<float>& work, float* gain_gradient,
                   float* bias_gradient);
void norm_backward(std::int64_t begin, std::int64_t end, const NormBackward<double>& work, double* gain_gradient,
                   double* bias_gradient);

/// Probabilities of one row of logits of any length; returns the cross entropy of class `target`.
double softmax_row(std::int64_t classes, const float* logits, std::int64_t target, float* probabilities);
double softmax_row(std::int64_t classes, const double* logits, std::int64_t target, double* probabilities);

}  // namespace trainyard::fused
