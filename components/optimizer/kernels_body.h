#pragma once

// The kernels, written so that gcc vectorises them. Included by one .cpp per instruction set and by nobody else.
//
// Everything lies in an unnamed namespace and no library header is used: a function with external linkage that two
// files compile with different instructions would be merged by the linker, and the wide one could end up on a processor
// without them.
//
// Formulas: torch.optim 1.13, the _single_tensor_* functions. g is the gradient after scaling, p the parameter.
//
// In double precision they also round where LibTorch's kernels round: add(x, alpha) and addcmul are fused multiply-adds
// there, so a run in 64-true is that of torch.optim to the last bit. In single precision nothing is fused: the same
// bits on processors with and without such instructions, and in the time that memory takes anyway.

#include "components/optimizer/kernels.h"

namespace trainyard::optimizer {
namespace {

inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double square_root(double x) { return __builtin_sqrt(x); }

/// a * b + c.
inline float multiply_add(float a, float b, float c) { return c + a * b; }
inline double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// gain * g^2 + c.
inline float add_square(float gain, float g, float c) { return c + gain * (g * g); }
inline double add_square(double gain, double g, double c) { return __builtin_fma(gain * g, g, c); }

/// What adam divides by, without eps.
inline float corrected_root(float square, const Coefficients<float>& c) { return square_root(square) * c.root_scale; }
inline double corrected_root(double square, const Coefficients<double>& c) {
  return square_root(square) / c.root_divisor;
}

/// p - step * g / denominator.
inline float descend(float p, float step, float g, float denominator) { return p - step * (g / denominator); }
inline double descend(double p, double step, double g, double denominator) { return p - step * g / denominator; }

// What a stored number becomes in registers, and back. Halves are handled by their bits: the compiler then needs no
// instructions of their own and turns the loops into vector code for every set.
inline float load(float x) { return x; }
inline double load(double x) { return x; }
inline void store(float x, float& to) { to = x; }
inline void store(double x, double& to) { to = x; }

/// The upper half of a float.
inline float load(BFloat16 x) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(x.bits) << 16); }

/// To the nearest, ties to even. A NaN keeps its upper bits and is made quiet, so that it cannot become infinite.
inline void store(float x, BFloat16& to) {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40u;
  to.bits = static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

/// The exponent's bias differs by 112. Subnormal halves are small whole numbers times 2^-24; infinity and NaN stay.
inline float load(Float16 x) {
  const std::uint32_t magnitude = x.bits & 0x7fffu;
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000u) << 16;
  const std::uint32_t bias = magnitude >= 0x7c00u ? 224u << 23 : 112u << 23;
  const float normal = __builtin_bit_cast(float, (magnitude << 13) + bias);
  const float subnormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f;
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, magnitude < 0x400u ? subnormal : normal) | sign);
}

/// To the nearest, ties to even; 65520 and more become infinite. For subnormal halves the addition of 0.5 does the
/// rounding: the last bit of its sum stands for 2^-24.
inline void store(float x, Float16& to) {
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

/// p -= lr * g, or with momentum b = momentum * b + (1 - dampening) * g and b in place of g (Nesterov: g + momentum *
/// b).
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
      g = multiply_add(c.weight_decay, p, g);
    }
    mean = multiply_add(c.gain1, g, c.decay1 * mean);
    square = add_square(c.gain2, g, c.decay2 * square);
    T used = square;
    if constexpr (kAmsgrad) used = largest = square > largest ? square : largest;
    return p - c.step_size * mean / (corrected_root(used, c) + c.eps);
  }
};

/// p -= lr * g / (sqrt(mean of g^2, centered: minus square of the mean of g) + eps), with momentum on the quotient.
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
      variance = variance < 0 ? T(0) : variance;  // Rounding can leave less than nothing of a constant gradient.
    }
    const T denominator = square_root(variance) + c.eps;
    if constexpr (!kMomentum) return descend(p, c.step_size, g, denominator);
    T& buffer = kCentered ? third : second;
    buffer = c.decay1 * buffer + g / denominator;
    return multiply_add(-c.step_size, buffer, p);
  }
};

/// p -= lr / (1 + (step - 1) * lr_decay) * g / (sqrt(sum of g^2) + eps).
struct Adagrad {
  static constexpr int kStates = 1;
  template <class T>
  static T update(T p, T g, T& sum, T&, T&, const Coefficients<T>& c) {
    g = multiply_add(c.weight_decay, p, g);
    sum = multiply_add(g, g, sum);
    return p - c.step_size * g / (square_root(sum) + c.eps);
  }
};

/// Drives a formula over the slices. The pointers are unrelated memory; ivdep says so to the vectoriser. T is what is
/// stored, A what is calculated with.
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
