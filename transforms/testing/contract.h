#pragma once

#include <string>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// What the contract test of transforms needs of one transform: parameters with which it takes at least one of the
/// contract's fields, images of 8 x 8 pixels among them.
struct TransformCase {
  std::string parameters = "{}";  ///< A JSON object.
};

using TransformContract = ContractCase<TransformCase>;

}  // namespace trainyard::testing
