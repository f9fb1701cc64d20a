// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// What the contract test of models needs to know about one model.
struct ModelCase {
  std::string parameters = "{}";  ///< A JSON object. Small sizes make the test quick.

  /// Which of the contract's data the model accepts, by name: "vectors", "numbers" (vectors with numbers as targets),
  /// "images" or "tokens". If it is empty, the contract test finds out by trying, and a model that accepts none fails.
  std::vector<std::string> data;
};

using ModelContract = ContractCase<ModelCase>;

}  // namespace trainyard::testing
