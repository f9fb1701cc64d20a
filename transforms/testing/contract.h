// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// What the contract test of transforms needs to know about one transform: parameters with which it accepts at least
/// one of the contract's fields, which include images of 8 x 8 pixels.
struct TransformCase {
  std::string parameters = "{}";  ///< A JSON object.
};

using TransformContract = ContractCase<TransformCase>;

}  // namespace trainyard::testing
