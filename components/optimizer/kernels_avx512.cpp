// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/kernels.h"

#ifdef __AVX512F__
#include "components/optimizer/kernels_body.h"
#endif

namespace trainyard::optimizer {

const KernelSet* avx512_kernels() {
#ifdef __AVX512F__
  static constexpr KernelSet set = kernels_named("avx512");
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma") ? &set : nullptr;
#else
  return nullptr;  // The build is for a processor of another architecture.
#endif
}

}  // namespace trainyard::optimizer
