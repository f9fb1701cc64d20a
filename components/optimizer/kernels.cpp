// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/kernels.h"

namespace trainyard::optimizer {

const KernelSet& best_kernels() {
  for (const KernelSet* set : {avx512_kernels(), avx2_kernels()}) {
    if (set != nullptr) return *set;
  }
  return *generic_kernels();
}

}  // namespace trainyard::optimizer
