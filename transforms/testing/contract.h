// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// States how the contract test, which tests the rules that every transform must obey, creates one transform plugin.
struct TransformCase {
  /// The parameters of the transform, as a JSON object. With these parameters, the transform must accept at least one
  /// of the fields that the test tries, such as images of 8 x 8 pixels.
  std::string parameters = "{}";
};

using TransformContract = ContractCase<TransformCase>;

}  // namespace trainyard::testing
