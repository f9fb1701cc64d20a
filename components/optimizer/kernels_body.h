// SPDX-License-Identifier: Apache-2.0
#pragma once

// The loops that update parameters, written so that gcc vectorises them. Only one .cpp file for each instruction set
// includes this file.
//
// Everything is in an unnamed namespace, and no library function is used. If two files compiled the same function with
// external linkage for different instruction sets, the linker would keep only one version, and the processor might not
// be able to run it.

#include "components/optimizer/kernels.h"

namespace trainyard::optimizer {
namespace {

// load() converts a stored number to the type of the calculation, and store() converts it back. The conversions of
// 16-bit floats are in messages/half.h.
inline float load(float x) { return x; }
inline double load(double x) { return x; }
inline void store(float x, float& to) { to = x; }
inline void store(double x, double& to) { to = x; }

/// Updates the parameters and the state in `slices` with the formula `Rule`, and sets the gradients to zero. The memory
/// of the parameters, the gradients and each block of state must not overlap. T is the type of the parameters and
/// gradients, and A is the type of the state and of the calculation.
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
  put<T>(kernels, Formula::kSgd, pass<devices::Sgd<false, false>>);
  put<T>(kernels, Formula::kSgdMomentum, pass<devices::Sgd<true, false>>);
  put<T>(kernels, Formula::kSgdNesterov, pass<devices::Sgd<true, true>>);
  put<T>(kernels, Formula::kAdam, pass<devices::Adam<false, false>>);
  put<T>(kernels, Formula::kAdamAmsgrad, pass<devices::Adam<false, true>>);
  put<T>(kernels, Formula::kAdamW, pass<devices::Adam<true, false>>);
  put<T>(kernels, Formula::kAdamWAmsgrad, pass<devices::Adam<true, true>>);
  put<T>(kernels, Formula::kRmsprop, pass<devices::Rmsprop<false, false>>);
  put<T>(kernels, Formula::kRmspropMomentum, pass<devices::Rmsprop<false, true>>);
  put<T>(kernels, Formula::kRmspropCentered, pass<devices::Rmsprop<true, false>>);
  put<T>(kernels, Formula::kRmspropCenteredMomentum, pass<devices::Rmsprop<true, true>>);
  put<T>(kernels, Formula::kAdagrad, pass<devices::Adagrad>);
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
