// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/kernels.h"

#ifdef __AVX2__
#include "components/optimizer/kernels_body.h"
#endif

namespace trainyard::optimizer {

const KernelSet* avx2_kernels() {
#ifdef __AVX2__
  static constexpr KernelSet set = kernels_named("avx2");
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &set : nullptr;
#else
  return nullptr;  // The build is for a processor of another architecture.
#endif
}

}  // namespace trainyard::optimizer
