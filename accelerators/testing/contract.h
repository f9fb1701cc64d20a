// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// One accelerator in the contract test of accelerators, with parameters with which it finds a device, if there is one.
struct AcceleratorCase {
  std::string parameters = "{}";  ///< A JSON object.
};

using AcceleratorContract = ContractCase<AcceleratorCase>;

}  // namespace trainyard::testing
