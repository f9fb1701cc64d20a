// SPDX-License-Identifier: Apache-2.0
#include "collectives/shared_memory/kernels.h"

#ifdef __AVX2__
#include "collectives/shared_memory/kernels_body.h"
#endif

namespace trainyard::shared_memory {

const KernelSet* avx2_kernels() {
#ifdef __AVX2__
  static constexpr KernelSet set = kernels_named("avx2");
  return __builtin_cpu_supports("avx2") ? &set : nullptr;
#else
  return nullptr;  // The build is for a processor of another architecture.
#endif
}

}  // namespace trainyard::shared_memory
