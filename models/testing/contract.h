// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// The input of the contract test of models for one model plugin.
struct ModelCase {
  std::string parameters = "{}";  ///< The parameters of the model, as a JSON object. Small sizes keep the test fast.

  /// The names of the test datasets that the model accepts: "vectors", "numbers" (vectors with numbers as targets),
  /// "images" or "tokens". If the list is empty, the contract test tries all of them, and fails if the model accepts
  /// none.
  std::vector<std::string> data;
};

using ModelContract = ContractCase<ModelCase>;

}  // namespace trainyard::testing
