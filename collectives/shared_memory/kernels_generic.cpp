// SPDX-License-Identifier: Apache-2.0
#include "collectives/shared_memory/kernels_body.h"

namespace trainyard::shared_memory {

const KernelSet* generic_kernels() {
  static constexpr KernelSet set = kernels_named("generic");
  return &set;
}

}  // namespace trainyard::shared_memory
