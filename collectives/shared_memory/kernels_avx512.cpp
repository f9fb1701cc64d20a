// SPDX-License-Identifier: Apache-2.0
#include "collectives/shared_memory/kernels.h"

#ifdef __AVX512BW__
#include "collectives/shared_memory/kernels_body.h"
#endif

namespace trainyard::shared_memory {

const KernelSet* avx512_kernels() {
#ifdef __AVX512BW__
  static constexpr KernelSet set = kernels_named("avx512");
  const bool supported = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return supported ? &set : nullptr;
#else
  return nullptr;  // The build is for a processor of another architecture.
#endif
}

}  // namespace trainyard::shared_memory
