// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/kernels_body.h"

namespace trainyard::optimizer {

const KernelSet* generic_kernels() {
  static constexpr KernelSet set = kernels_named("generic");
  return &set;
}

}  // namespace trainyard::optimizer
