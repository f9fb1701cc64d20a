#pragma once

// The kernels, written so that gcc vectorises them. Included by one .cpp per instruction set and by nobody else.
//
// Everything lies in an unnamed namespace and no library header is used: a function with external linkage that two
// files compile with different instructions would be merged by the linker, and the wide one could end up on a processor
// without them.
//
// Formulas: torch.optim 1.13, the _single_tensor_* functions. g is the gradient after scaling, p the parameter.

#include "components/optimizer/kernels.h"

namespace trainyard::optimizer {
namespace {

inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double square_root(double x) { return __builtin_sqrt(x); }

/// p -= lr * g, or with momentum b = momentum * b + (1 - dampening) * g and b in place of g (Nesterov: g + momentum *
/// b).
template <bool kMomentum, bool kNesterov>
struct Sgd {
  static constexpr int kStates = kMomentum ? 1 : 0;
  template <class T>
  static T update(T p, T g, T& buffer, T&, T&, const Coefficients<T>& c) {
    g += c.weight_decay * p;
    if constexpr (kMomentum) {
      buffer = c.decay1 * buffer + c.gain1 * g;
      g = kNesterov ? g + c.decay1 * buffer : buffer;
    }
    return p - c.step_size * g;
  }
};

/// m and v are running means of g and g^2; p -= lr / bias1 * m / (sqrt(v / bias2) + eps). Adam adds the weight decay to
/// the gradient, AdamW takes it from the parameter. AMSGrad uses the largest v so far.
template <bool kDecoupled, bool kAmsgrad>
struct Adam {
  static constexpr int kStates = kAmsgrad ? 3 : 2;
  template <class T>
  static T update(T p, T g, T& mean, T& square, T& largest, const Coefficients<T>& c) {
    if constexpr (kDecoupled) {
      p *= c.keep;
    } else {
      g += c.weight_decay * p;
    }
    mean = c.decay1 * mean + c.gain1 * g;
    square = c.decay2 * square + c.gain2 * (g * g);
    T used = square;
    if constexpr (kAmsgrad) used = largest = square > largest ? square : largest;
    return p - c.step_size * mean / (square_root(used) * c.root_scale + c.eps);
  }
};

/// p -= lr * g / (sqrt(mean of g^2, centered: minus square of the mean of g) + eps), with momentum on the quotient.
template <bool kCentered, bool kMomentum>
struct Rmsprop {
  static constexpr int kStates = 1 + kCentered + kMomentum;
  template <class T>
  static T update(T p, T g, T& square, T& second, T& third, const Coefficients<T>& c) {
    g += c.weight_decay * p;
    square = c.decay2 * square + c.gain2 * (g * g);
    T variance = square;
    if constexpr (kCentered) {
      second = c.decay2 * second + c.gain2 * g;
      variance -= second * second;
      variance = variance < 0 ? T(0) : variance;  // Rounding can leave less than nothing of a constant gradient.
    }
    const T quotient = g / (square_root(variance) + c.eps);
    if constexpr (!kMomentum) return p - c.step_size * quotient;
    T& buffer = kCentered ? third : second;
    buffer = c.decay1 * buffer + quotient;
    return p - c.step_size * buffer;
  }
};

/// p -= lr / (1 + (step - 1) * lr_decay) * g / (sqrt(sum of g^2) + eps).
struct Adagrad {
  static constexpr int kStates = 1;
  template <class T>
  static T update(T p, T g, T& sum, T&, T&, const Coefficients<T>& c) {
    g += c.weight_decay * p;
    sum += g * g;
    return p - c.step_size * g / (square_root(sum) + c.eps);
  }
};

/// Drives a formula over the slices. The pointers are unrelated memory; ivdep says so to the vectoriser.
template <class Rule, class T>
void pass(const Slices<T>& slices, const Coefficients<T>& coefficients) {
  const Coefficients<T> c = coefficients;
  T* __restrict parameter = slices.parameter;
  T* __restrict gradient = slices.gradient;
  T* __restrict first = slices.state[0];
  T* __restrict second = slices.state[1];
  T* __restrict third = slices.state[2];
#pragma GCC ivdep
  for (std::size_t i = 0; i < slices.count; ++i) {
    const T g = gradient[i] * c.gradient_scale;
    T x = 0, y = 0, z = 0;
    if constexpr (Rule::kStates > 0) x = first[i];
    if constexpr (Rule::kStates > 1) y = second[i];
    if constexpr (Rule::kStates > 2) z = third[i];
    parameter[i] = Rule::update(parameter[i], g, x, y, z, c);
    if constexpr (Rule::kStates > 0) first[i] = x;
    if constexpr (Rule::kStates > 1) second[i] = y;
    if constexpr (Rule::kStates > 2) third[i] = z;
    gradient[i] = 0;
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
  KernelSet set{name, {}, {}};
  fill(set.float32);
  fill(set.float64);
  return set;
}

}  // namespace
}  // namespace trainyard::optimizer
