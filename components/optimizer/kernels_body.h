// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernels, written so that gcc vectorises them. Only the .cpp files of the instruction sets include this file.
//
// Everything is in an unnamed namespace, and no library header is used. If two files compiled the same function with
// external linkage for different instruction sets, the linker would keep only one of the two versions, and this version
// could run on a processor that lacks its instructions.
//
// The formulas are taken from the functions _single_tensor_* of torch.optim 1.13. g is the gradient after scaling, and
// p is the parameter.
//
// In double precision the kernels round where LibTorch's kernels round: there, add(x, alpha) and addcmul are fused
// multiply-adds. A run in 64-true is therefore bit-identical to a run of torch.optim. In single precision nothing is
// fused. Results are then bit-identical on processors with and without such instructions, and the kernels are no
// slower, because memory limits their speed.

#include "components/optimizer/kernels.h"

namespace trainyard::optimizer {
namespace {

inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double square_root(double x) { return __builtin_sqrt(x); }

/// Returns a * b + c.
inline float multiply_add(float a, float b, float c) { return c + a * b; }
inline double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// Returns gain * g^2 + c.
inline float add_square(float gain, float g, float c) { return c + gain * (g * g); }
inline double add_square(double gain, double g, double c) { return __builtin_fma(gain * g, g, c); }

/// Returns the divisor of adam, without eps.
inline float corrected_root(float square, const Coefficients<float>& c) { return square_root(square) * c.root_scale; }
inline double corrected_root(double square, const Coefficients<double>& c) {
  return square_root(square) / c.root_divisor;
}

/// Returns p - step * g / denominator.
inline float descend(float p, float step, float g, float denominator) { return p - step * (g / denominator); }
inline double descend(double p, double step, double g, double denominator) { return p - step * g / denominator; }

// Convert a stored number to the type of the calculation, and back. The conversions of halves are in messages/half.h.
inline float load(float x) { return x; }
inline double load(double x) { return x; }
inline void store(float x, float& to) { to = x; }
inline void store(double x, double& to) { to = x; }

/// SGD: p -= lr * g. With momentum, g is replaced by b = momentum * b + (1 - dampening) * g. With Nesterov momentum, it
/// is replaced by g + momentum * b.
template <bool kMomentum, bool kNesterov>
struct Sgd {
  static constexpr int kStates = kMomentum ? 1 : 0;
  template <class T>
  static T update(T p, T g, T& buffer, T&, T&, const Coefficients<T>& c) {
    g = multiply_add(c.weight_decay, p, g);
    if constexpr (kMomentum) {
      buffer = multiply_add(c.gain1, g, c.decay1 * buffer);
      g = kNesterov ? multiply_add(c.decay1, buffer, g) : buffer;
    }
    return multiply_add(-c.step_size, g, p);
  }
};

/// m and v are running means of g and g^2, and p -= lr / bias1 * m / (sqrt(v / bias2) + eps). Adam adds the weight
/// decay to the gradient; AdamW subtracts it from the parameter. AMSGrad uses the largest v up to this step.
template <bool kDecoupled, bool kAmsgrad>
struct Adam {
  static constexpr int kStates = kAmsgrad ? 3 : 2;
  template <class T>
  static T update(T p, T g, T& mean, T& square, T& largest, const Coefficients<T>& c) {
    if constexpr (kDecoupled) {
      p *= c.keep;
    } else {
      g = multiply_add(c.weight_decay, p, g);
    }
    mean = multiply_add(c.gain1, g, c.decay1 * mean);
    square = add_square(c.gain2, g, c.decay2 * square);
    T used = square;
    if constexpr (kAmsgrad) used = largest = square > largest ? square : largest;
    return p - c.step_size * mean / (corrected_root(used, c) + c.eps);
  }
};

/// RMSprop: p -= lr * g / (sqrt(v) + eps), where v is the running mean of g^2. If centered, the square of the running
/// mean of g is subtracted from v. Momentum acts on the quotient.
template <bool kCentered, bool kMomentum>
struct Rmsprop {
  static constexpr int kStates = 1 + kCentered + kMomentum;
  template <class T>
  static T update(T p, T g, T& square, T& second, T& third, const Coefficients<T>& c) {
    g = multiply_add(c.weight_decay, p, g);
    square = add_square(c.gain2, g, c.decay2 * square);
    T variance = square;
    if constexpr (kCentered) {
      second = multiply_add(c.gain2, g, c.decay2 * second);
      variance = multiply_add(-second, second, variance);
      variance = variance < 0 ? T(0) : variance;  // Rounding can make the variance of a constant gradient negative.
    }
    const T denominator = square_root(variance) + c.eps;
    if constexpr (!kMomentum) return descend(p, c.step_size, g, denominator);
    T& buffer = kCentered ? third : second;
    buffer = c.decay1 * buffer + g / denominator;
    return multiply_add(-c.step_size, buffer, p);
  }
};

/// Adagrad: p -= lr / (1 + (step - 1) * lr_decay) * g / (sqrt(sum of g^2) + eps).
struct Adagrad {
  static constexpr int kStates = 1;
  template <class T>
  static T update(T p, T g, T& sum, T&, T&, const Coefficients<T>& c) {
    g = multiply_add(c.weight_decay, p, g);
    sum = multiply_add(g, g, sum);
    return p - c.step_size * g / (square_root(sum) + c.eps);
  }
};

/// Applies a formula to the slices. The pointers refer to separate memory, and the pragma ivdep informs the vectoriser
/// of this. T is the stored type, A the type of the calculation.
template <class Rule, class T, class A = Arithmetic<T>>
void pass(const Slices<T>& slices, const Coefficients<A>& coefficients) {
  const Coefficients<A> c = coefficients;
  T* __restrict parameter = slices.parameter;
  T* __restrict gradient = slices.gradient;
  A* __restrict first = slices.state[0];
  A* __restrict second = slices.state[1];
  A* __restrict third = slices.state[2];
#pragma GCC ivdep
  for (std::size_t i = 0; i < slices.count; ++i) {
    const A g = load(gradient[i]) * c.gradient_scale;
    A x = 0, y = 0, z = 0;
    if constexpr (Rule::kStates > 0) x = first[i];
    if constexpr (Rule::kStates > 1) y = second[i];
    if constexpr (Rule::kStates > 2) z = third[i];
    store(Rule::update(load(parameter[i]), g, x, y, z, c), parameter[i]);
    if constexpr (Rule::kStates > 0) first[i] = x;
    if constexpr (Rule::kStates > 1) second[i] = y;
    if constexpr (Rule::kStates > 2) third[i] = z;
    gradient[i] = T{};
  }
}

template <class T>
constexpr void put(Kernel<T>* kernels, Formula formula, Kernel<T> kernel) {
  kernels[static_cast<std::size_t>(formula)] = kernel;
}

template <class T>
constexpr void fill(Kernel<T>* kernels) {
  put<T>(kernels, Formula::kSgd, pass<Sgd<false, false>>);
  put<T>(kernels, Formula::kSgdMomentum, pass<Sgd<true, false>>);
  put<T>(kernels, Formula::kSgdNesterov, pass<Sgd<true, true>>);
  put<T>(kernels, Formula::kAdam, pass<Adam<false, false>>);
  put<T>(kernels, Formula::kAdamAmsgrad, pass<Adam<false, true>>);
  put<T>(kernels, Formula::kAdamW, pass<Adam<true, false>>);
  put<T>(kernels, Formula::kAdamWAmsgrad, pass<Adam<true, true>>);
  put<T>(kernels, Formula::kRmsprop, pass<Rmsprop<false, false>>);
  put<T>(kernels, Formula::kRmspropMomentum, pass<Rmsprop<false, true>>);
  put<T>(kernels, Formula::kRmspropCentered, pass<Rmsprop<true, false>>);
  put<T>(kernels, Formula::kRmspropCenteredMomentum, pass<Rmsprop<true, true>>);
  put<T>(kernels, Formula::kAdagrad, pass<Adagrad>);
}

constexpr KernelSet kernels_named(const char* name) {
  KernelSet set{name, {}, {}, {}, {}};
  fill(set.float32);
  fill(set.float64);
  fill(set.bfloat16);
  fill(set.float16);
  return set;
}

}  // namespace
}  // namespace trainyard::optimizer
