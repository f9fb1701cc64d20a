// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "devices/update_rules.h"
#include "messages/half.h"

namespace trainyard::optimizer {

using devices::Coefficients;
using devices::Formula;
constexpr std::size_t kFormulas = devices::kFormulas;

/// The type of the optimizer's state, and of all calculations, for parameters of type T. For the 16-bit types it is
/// float, because their 8 or 11 significant bits are too few for a running average that changes by a thousandth of its
/// value.
template <class T>
using Arithmetic = std::conditional_t<sizeof(T) == 2, float, T>;

/// The same range of elements in the flat blocks of parameters, gradients and optimizer state. `state` contains one
/// pointer for each block of state that the formula uses, in the order of state_names().
template <class T>
struct Slices {
  T* parameter = nullptr;
  T* gradient = nullptr;
  Arithmetic<T>* state[3] = {};
  std::size_t count = 0;  ///< The number of elements.
};

/// A function that updates the parameters in the slices in one pass. It reads and writes each parameter, state value
/// and gradient once, and sets the gradient to zero.
template <class T>
using Kernel = void (*)(const Slices<T>&, const Coefficients<Arithmetic<T>>&);

/// The kernels for one instruction set, indexed by Formula. The results of all sets are bit-identical.
struct KernelSet {
  std::string_view name;
  Kernel<float> float32[kFormulas];
  Kernel<double> float64[kFormulas];
  Kernel<BFloat16> bfloat16[kFormulas];
  Kernel<Float16> float16[kFormulas];

  template <class T>
  Kernel<T> get(Formula formula) const {
    const auto index = static_cast<std::size_t>(formula);
    if constexpr (std::is_same_v<T, float>) return float32[index];
    if constexpr (std::is_same_v<T, double>) return float64[index];
    if constexpr (std::is_same_v<T, BFloat16>) return bfloat16[index];
    if constexpr (std::is_same_v<T, Float16>) return float16[index];
  }
};

/// These functions return the kernels for one instruction set, or null if the compiler or the processor does not
/// support it.
const KernelSet* generic_kernels();
const KernelSet* avx2_kernels();
const KernelSet* avx512_kernels();

/// Returns the kernels for the widest instruction set that this processor supports.
const KernelSet& best_kernels();

}  // namespace trainyard::optimizer
