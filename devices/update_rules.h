// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Inlines a function wherever it is called. No copy of the function remains that the linker could share between files
/// which were compiled for different instruction sets. In a file that nvcc compiles, the function can also be called on
/// a GPU.
#ifdef __CUDACC__
#define TRAINYARD_INLINED __host__ __device__ __forceinline__
#else
#define TRAINYARD_INLINED [[gnu::always_inline]] inline
#endif

namespace trainyard::devices {

/// The update formulas. A formula is a rule together with the options that change its arithmetic. Each formula has its
/// own kernel.
enum class Formula {
  kSgd,
  kSgdMomentum,
  kSgdNesterov,
  kAdam,
  kAdamAmsgrad,
  kAdamW,
  kAdamWAmsgrad,
  kRmsprop,
  kRmspropMomentum,
  kRmspropCentered,
  kRmspropCenteredMomentum,
  kAdagrad,
};
constexpr std::size_t kFormulas = 12;

/// The numbers of one step that are the same for every element of a range of the parameters (UpdateRange).
template <class T>
struct Coefficients {
  T gradient_scale = 1;  ///< The factor by which the gradient is multiplied first; negative to maximise.
  T weight_decay = 0;    ///< The parameter times this factor is added to the gradient.
  T keep = 1;            ///< adamw: the factor by which the parameter is multiplied first.
  T step_size = 0;       ///< The learning rate, including corrections of the rule such as Adam's bias correction.
  T decay1 = 0;          ///< The weight of the old momentum or, in adam and adamw, of the old average of gradients.
  T gain1 = 1;           ///< The weight of the new gradient in the value that decay1 applies to; unused by rmsprop.
  T decay2 = 0;          ///< The weight of the old averages of squares and, in centered rmsprop, of gradients.
  T gain2 = 1;           ///< The weight of the new value in the averages that decay2 applies to.
  T root_scale = 1;      ///< adam in single precision: the factor 1 / sqrt(1 - beta2^step).
  T eps = 0;             ///< The number that is added to the denominator.
  T root_divisor = 1;    ///< adam in double precision: the divisor sqrt(1 - beta2^step), as in LibTorch.
};

/// Returns the coefficients `c`, each rounded to the type T.
template <class T>
Coefficients<T> rounded(const Coefficients<double>& c) {
  const auto narrow = [](double x) { return static_cast<T>(x); };
  return {narrow(c.gradient_scale), narrow(c.weight_decay), narrow(c.keep),        narrow(c.step_size),
          narrow(c.decay1),         narrow(c.gain1),        narrow(c.decay2),      narrow(c.gain2),
          narrow(c.root_scale),     narrow(c.eps),          narrow(c.root_divisor)};
}

// The rules. Each is written once, as a template over the type V of a value, and T is the type of the coefficients. The
// kernels for the processor and for NVIDIA's GPUs use V = T = float or double. For all other devices, V is a whole
// tensor, and tensors/tensor_update.cpp defines the operations below. g is the gradient after scaling, and p is the
// parameter. `update` returns the new parameter and changes the values of the state.
//
// The formulas are taken from the functions _single_tensor_* of torch.optim 1.13.
//
// In double precision, the processor's kernels round exactly where LibTorch's kernels round. LibTorch's add(x, alpha)
// and addcmul are fused multiply-adds. So a run in 64-true is bit-identical to a run with torch.optim. In single
// precision nothing is fused, so that results are bit-identical on processors with and without such instructions, and
// on other devices. This costs no time, because the speed of memory is the limit.

#ifdef __CUDACC__
TRAINYARD_INLINED float square_root(float x) { return ::sqrtf(x); }
TRAINYARD_INLINED double square_root(double x) { return ::sqrt(x); }
TRAINYARD_INLINED double fused(double a, double b, double c) { return ::fma(a, b, c); }
#else
TRAINYARD_INLINED float square_root(float x) { return __builtin_sqrtf(x); }
TRAINYARD_INLINED double square_root(double x) { return __builtin_sqrt(x); }
TRAINYARD_INLINED double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
#endif

/// Return a * b + c.
TRAINYARD_INLINED float multiply_add(float a, float b, float c) { return c + a * b; }
TRAINYARD_INLINED double multiply_add(double a, double b, double c) { return fused(a, b, c); }

/// Return gain * g^2 + c.
TRAINYARD_INLINED float add_square(float gain, float g, float c) { return c + gain * (g * g); }
TRAINYARD_INLINED double add_square(double gain, double g, double c) { return fused(gain * g, g, c); }

/// Return the denominator of adam, without eps.
TRAINYARD_INLINED float corrected_root(float square, const Coefficients<float>& c) {
  return square_root(square) * c.root_scale;
}
TRAINYARD_INLINED double corrected_root(double square, const Coefficients<double>& c) {
  return square_root(square) / c.root_divisor;
}

/// Return p - step * g / denominator.
TRAINYARD_INLINED float descend(float p, float step, float g, float denominator) {
  return p - step * (g / denominator);
}
TRAINYARD_INLINED double descend(double p, double step, double g, double denominator) {
  return p - step * g / denominator;
}

/// Return the larger of two numbers.
TRAINYARD_INLINED float larger(float a, float b) { return a > b ? a : b; }
TRAINYARD_INLINED double larger(double a, double b) { return a > b ? a : b; }

/// Return the number, or 0 if it is negative.
TRAINYARD_INLINED float not_negative(float x) { return x < 0 ? 0.0f : x; }
TRAINYARD_INLINED double not_negative(double x) { return x < 0 ? 0.0 : x; }

/// SGD: p -= lr * g. With momentum, g is replaced by b = momentum * b + (1 - dampening) * g. With Nesterov momentum, it
/// is replaced by g + momentum * b.
template <bool kMomentum, bool kNesterov>
struct Sgd {
  static constexpr int kStates = kMomentum ? 1 : 0;
  template <class V, class T>
  TRAINYARD_INLINED static V update(V p, V g, V& buffer, V&, V&, const Coefficients<T>& c) {
    g = multiply_add(c.weight_decay, p, g);
    if constexpr (kMomentum) {
      buffer = multiply_add(c.gain1, g, c.decay1 * buffer);
      g = kNesterov ? multiply_add(c.decay1, buffer, g) : buffer;
    }
    return multiply_add(-c.step_size, g, p);
  }
};

/// Adam: p -= lr / bias1 * m / (sqrt(v / bias2) + eps), where m and v are the running means of g and g^2, and bias1 and
/// bias2 are 1 - beta1^step and 1 - beta2^step. Adam adds the weight decay to the gradient; AdamW subtracts it from the
/// parameter. AMSGrad uses the largest v of all steps.
template <bool kDecoupled, bool kAmsgrad>
struct Adam {
  static constexpr int kStates = kAmsgrad ? 3 : 2;
  template <class V, class T>
  TRAINYARD_INLINED static V update(V p, V g, V& mean, V& square, V& largest, const Coefficients<T>& c) {
    if constexpr (kDecoupled) {
      p = c.keep * p;
    } else {
      g = multiply_add(c.weight_decay, p, g);
    }
    mean = multiply_add(c.gain1, g, c.decay1 * mean);
    square = add_square(c.gain2, g, c.decay2 * square);
    V used = square;
    if constexpr (kAmsgrad) used = largest = larger(square, largest);
    return p - c.step_size * mean / (corrected_root(used, c) + c.eps);
  }
};

/// RMSprop: p -= lr * g / (sqrt(v) + eps), where v is the running mean of g^2. If centered, the square of the running
/// mean of g is subtracted from v. Momentum acts on the quotient.
template <bool kCentered, bool kMomentum>
struct Rmsprop {
  static constexpr int kStates = 1 + kCentered + kMomentum;
  template <class V, class T>
  TRAINYARD_INLINED static V update(V p, V g, V& square, V& second, V& third, const Coefficients<T>& c) {
    g = multiply_add(c.weight_decay, p, g);
    square = add_square(c.gain2, g, c.decay2 * square);
    V variance = square;
    if constexpr (kCentered) {
      second = multiply_add(c.gain2, g, c.decay2 * second);
      variance = multiply_add(-second, second, variance);
      variance = not_negative(variance);  // Rounding can make the variance of a constant gradient negative.
    }
    const V denominator = square_root(variance) + c.eps;
    if constexpr (!kMomentum) return descend(p, c.step_size, g, denominator);
    V& buffer = kCentered ? third : second;
    buffer = c.decay1 * buffer + g / denominator;
    return multiply_add(-c.step_size, buffer, p);
  }
};

/// Adagrad: p -= lr / (1 + (step - 1) * lr_decay) * g / (sqrt(sum of g^2) + eps).
struct Adagrad {
  static constexpr int kStates = 1;
  template <class V, class T>
  TRAINYARD_INLINED static V update(V p, V g, V& sum, V&, V&, const Coefficients<T>& c) {
    g = multiply_add(c.weight_decay, p, g);
    sum = multiply_add(g, g, sum);
    return p - c.step_size * g / (square_root(sum) + c.eps);
  }
};

/// Calls `use`, a generic callable, with an object of the rule for this formula, and returns the result. With
/// `using Rule = decltype(rule)`, the callable can call Rule::update().
template <class Use>
decltype(auto) with_rule(Formula formula, const Use& use) {
  switch (formula) {
    case Formula::kSgd:
      return use(Sgd<false, false>{});
    case Formula::kSgdMomentum:
      return use(Sgd<true, false>{});
    case Formula::kSgdNesterov:
      return use(Sgd<true, true>{});
    case Formula::kAdam:
      return use(Adam<false, false>{});
    case Formula::kAdamAmsgrad:
      return use(Adam<false, true>{});
    case Formula::kAdamW:
      return use(Adam<true, false>{});
    case Formula::kAdamWAmsgrad:
      return use(Adam<true, true>{});
    case Formula::kRmsprop:
      return use(Rmsprop<false, false>{});
    case Formula::kRmspropMomentum:
      return use(Rmsprop<false, true>{});
    case Formula::kRmspropCentered:
      return use(Rmsprop<true, false>{});
    case Formula::kRmspropCenteredMomentum:
      return use(Rmsprop<true, true>{});
    case Formula::kAdagrad:
      return use(Adagrad{});
  }
  __builtin_unreachable();
}

/// Returns the number of state blocks that the rule of this formula has, 0 to 3.
inline std::size_t states_of(Formula formula) {
  return with_rule(formula, [](auto rule) { return static_cast<std::size_t>(decltype(rule)::kStates); });
}

}  // namespace trainyard::devices
