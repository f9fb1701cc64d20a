// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// An accelerator for the contract test. With its parameters, the accelerator must find a device if there is one.
struct AcceleratorCase {
  std::string parameters = "{}";  ///< A JSON object.
};

using AcceleratorContract = ContractCase<AcceleratorCase>;

}  // namespace trainyard::testing
