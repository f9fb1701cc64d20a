// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "messages/half.h"

namespace trainyard::optimizer {

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

/// The type of the optimizer's state, and of all calculations, for parameters of type T. For the 16-bit types it is
/// float, because their 8 or 11 significant bits are too few for a running average that changes by a thousandth of its
/// value.
template <class T>
using Arithmetic = std::conditional_t<sizeof(T) == 2, float, T>;

/// The numbers of one step that are the same for every element of a segment.
template <class T>
struct Coefficients {
  T gradient_scale = 1;  ///< Multiplies the gradient before anything else; negative to maximise.
  T weight_decay = 0;    ///< This times the parameter is added to the gradient.
  T keep = 1;            ///< The factor by which adamw multiplies the parameter first.
  T step_size = 0;       ///< The learning rate, already divided by the divisors of the rule.
  T decay1 = 0;          ///< The factor of the old momentum or first average ...
  T gain1 = 1;           ///< ... and the weight of the new value.
  T decay2 = 0;          ///< The factor of the old average of squares ...
  T gain2 = 1;           ///< ... and the weight of the new value.
  T root_scale = 1;      ///< adam: 1 / sqrt(1 - beta2^step).
  T eps = 0;
  T root_divisor = 1;  ///< adam in double precision: the divisor sqrt(1 - beta2^step), as in LibTorch.
};

/// A contiguous part of the flat blocks. `state` contains one pointer for each state block of the formula, in the order
/// of state_names().
template <class T>
struct Slices {
  T* parameter = nullptr;
  T* gradient = nullptr;
  Arithmetic<T>* state[3] = {};
  std::size_t count = 0;  ///< The number of elements.
};

/// A function that makes one pass over the slices: it reads and writes each gradient, state value and parameter once,
/// and sets the gradient to zero.
template <class T>
using Kernel = void (*)(const Slices<T>&, const Coefficients<Arithmetic<T>>&);

/// The kernels of one instruction set, indexed by Formula. The results of all sets are bit-identical.
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

/// Return the kernels of one instruction set, or null if the build or the processor does not support it.
const KernelSet* generic_kernels();
const KernelSet* avx2_kernels();
const KernelSet* avx512_kernels();

/// Returns the kernels with the widest vectors that this processor supports.
const KernelSet& best_kernels();

}  // namespace trainyard::optimizer
