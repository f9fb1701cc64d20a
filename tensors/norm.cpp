// SPDX-License-Identifier: Apache-2.0
#include "tensors/norm.h"

#include <ATen/ops/linalg_vector_norm.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/compiler/target_clones.h"

namespace trainyard {
namespace {

constexpr std::int64_t kRun = 4096;  ///< The number of values whose squares are added up in the tensor's own precision.
/// The number of independent partial sums, with which the loop fills wide registers.
constexpr int kLanes = 32;

/// Returns the sum of the squares of up to kRun values. The partial sums are added in the order of their index,
/// whatever the machine's vector width.
template <class T>
[[gnu::always_inline]] inline double square_run(const T* values, std::int64_t count) {
  T lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane] * values[i + lane];
  }
  for (; i < count; ++i) lanes[0] += values[i] * values[i];
  double sum = 0;
  for (T lane : lanes) sum += static_cast<double>(lane);
  return sum;
}

/// The compiler makes a version for each of these instruction sets. The best version for this machine is chosen when
/// the library is loaded.
TRAINYARD_TARGET_CLONES("default", "avx2", "avx512f") double square_sum(const float* values, std::int64_t count) {
  double sum = 0;
  for (std::int64_t begin = 0; begin < count; begin += kRun) {
    sum += square_run(values + begin, std::min(kRun, count - begin));
  }
  return sum;
}

double square_sum(const double* values, std::int64_t count) { return square_run(values, count); }

}  // namespace

double l2_norm(const at::Tensor& flat) {
  if (flat.device().is_cpu() && flat.is_contiguous()) {
    if (flat.scalar_type() == at::kFloat) return std::sqrt(square_sum(flat.data_ptr<float>(), flat.numel()));
    if (flat.scalar_type() == at::kDouble) return std::sqrt(square_sum(flat.data_ptr<double>(), flat.numel()));
  }
  // The norm of 16-bit values is computed in single precision: in 16 bits, it would lose most of its digits or
  // overflow.
  const at::ScalarType type = flat.element_size() == 2 ? at::kFloat : flat.scalar_type();
  return at::linalg_vector_norm(flat, 2, at::OptionalIntArrayRef(), /*keepdim=*/false, type).item<double>();
}

}  // namespace trainyard
