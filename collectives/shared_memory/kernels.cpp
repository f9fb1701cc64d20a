// SPDX-License-Identifier: Apache-2.0
#include "collectives/shared_memory/kernels.h"

#include "collectives/collective.h"

namespace trainyard::shared_memory {

static_assert(static_cast<std::size_t>(DType::kBool) + 1 == kDTypes);
static_assert(static_cast<std::size_t>(ReduceOp::kProduct) + 1 == kReduceOps);

const KernelSet& best_kernels() {
  for (const KernelSet* set : {avx512_kernels(), avx2_kernels()}) {
    if (set != nullptr) return *set;
  }
  return *generic_kernels();
}

}  // namespace trainyard::shared_memory
