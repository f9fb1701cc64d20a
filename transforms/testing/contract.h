// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// The input of the contract test of transforms for one transform plugin.
struct TransformCase {
  /// The parameters of the transform, as a JSON object. With them, the transform must accept at least one of the fields
  /// that the contract test tries, such as images of 8 x 8 pixels.
  std::string parameters = "{}";
};

using TransformContract = ContractCase<TransformCase>;

}  // namespace trainyard::testing
