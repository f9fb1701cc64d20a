// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// States how the contract test, which tests the rules that every accelerator must obey, creates one accelerator.
struct AcceleratorCase {
  /// The parameters of the accelerator, as a JSON object. With these parameters, the accelerator must find its devices
  /// if this machine has any.
  std::string parameters = "{}";
};

using AcceleratorContract = ContractCase<AcceleratorCase>;

}  // namespace trainyard::testing
