// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/half.h"

namespace trainyard::fused {

// Kernels over rows and single numbers. `width` and `count` are multiples of 16. Pointers may have any alignment of
// their type, and outputs may not overlap inputs. The kernels run on the caller's thread; several threads may work on
// different rows.
//
// The versions for bfloat16 are for the precision bf16-mixed. They compute in float, but read the results of matrix
// products, and write the inputs of matrix products, in bfloat16.

/// Computes the activation function GELU, y = x Phi(x), where Phi is the distribution function of the standard normal
/// distribution. Unless `derivative` is null, also writes dy/dx there, so that the backward pass only has to multiply.
/// Both need the same exponential, so computing them together saves time. `count` must be a multiple of 16. The float
/// version is accurate to 2e-7, and the double version to the last digits.
void gelu_forward(std::int64_t count, const float* x, float* y, float* derivative);
void gelu_forward(std::int64_t count, const double* x, double* y, double* derivative);
void gelu_forward(std::int64_t count, const BFloat16* x, BFloat16* y, BFloat16* derivative);

/// Computes the gradient with respect to x from the gradient with respect to y and the derivative that gelu_forward has
/// written.
void gelu_backward(std::int64_t count, const float* derivative, const float* y_gradient, float* x_gradient);
void gelu_backward(std::int64_t count, const double* derivative, const double* y_gradient, double* x_gradient);
void gelu_backward(std::int64_t count, const BFloat16* derivative, const BFloat16* y_gradient, BFloat16* x_gradient);

/// Adds the bfloat16 `numbers` to the floats in `sums`. `count` must be a multiple of 16.
void add_widened(std::int64_t count, const BFloat16* numbers, float* sums);

/// The arguments of norm_forward. For each row of `width` numbers, it computes sum = x + added and y = (sum - mean) /
/// deviation * gain + bias, where deviation = sqrt(variance + epsilon). If `added` is null, the sum is x and is not
/// written to `sum`. `bias` may be null. `statistics` receives two numbers for every row: the mean and 1 / deviation.
///
/// T is the type of the arithmetic and of the residual stream. S is the type of the tensors that come from a matrix
/// product or go to one.
template <class T, class S = T>
struct NormForward {
  std::int64_t width;
  const T* x;
  const S* added;
  const T* gain;
  const T* bias;
  double epsilon;
  T* sum;
  S* y;
  T* statistics;
};
/// Computes the layer norm of the rows from `begin` up to, but not including, `end`. The version in double is for tests
/// and reference runs.
void norm_forward(std::int64_t begin, std::int64_t end, const NormForward<float>& work);
void norm_forward(std::int64_t begin, std::int64_t end, const NormForward<double>& work);
void norm_forward(std::int64_t begin, std::int64_t end, const NormForward<float, BFloat16>& work);

/// The arguments of norm_backward. It computes the gradient of `sum` from `y_gradient`, adds `sum_gradient` unless that
/// pointer is null, and writes the total to `result`. Unless `added_result` is null, writes the total there, too, in
/// the type of `added`. `statistics` must come from norm_forward.
template <class T, class S = T>
struct NormBackward {
  std::int64_t width;
  const T* sum;
  const T* statistics;
  const T* gain;
  const S* y_gradient;
  const T* sum_gradient;
  T* result;
  S* added_result;
};
/// Computes the gradients of the layer norm for the rows from `begin` up to, but not including, `end`. Writes the
/// gradient of the rows to `work.result` and, unless it is null, to `work.added_result`. Adds the contributions of the
/// rows to `gain_gradient` and `bias_gradient`, which therefore must be initialised. `bias_gradient` may be null.
void norm_backward(std::int64_t begin, std::int64_t end, const NormBackward<float>& work, float* gain_gradient,
                   float* bias_gradient);
void norm_backward(std::int64_t begin, std::int64_t end, const NormBackward<double>& work, double* gain_gradient,
                   double* bias_gradient);
void norm_backward(std::int64_t begin, std::int64_t end, const NormBackward<float, BFloat16>& work,
                   float* gain_gradient, float* bias_gradient);

/// Computes the softmax of one row of logits, writes it to `probabilities`, and returns the cross entropy against the
/// class `target`. Unlike the other sizes, `classes` need not be a multiple of 16.
double softmax_row(std::int64_t classes, const float* logits, std::int64_t target, float* probabilities);
double softmax_row(std::int64_t classes, const double* logits, std::int64_t target, double* probabilities);

}  // namespace trainyard::fused
