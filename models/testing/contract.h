#pragma once

#include <string>
#include <vector>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// What the contract test of models needs of one model.
struct ModelCase {
  std::string parameters = "{}";  ///< A JSON object. Small sizes make the test quick.

  /// Which of the contract's data the model takes, by name: "vectors", "numbers" (vectors with numbers as targets),
  /// "images", "tokens". Empty: the contract finds out by trying, and a model that takes none fails.
  std::vector<std::string> data;
};

using ModelContract = ContractCase<ModelCase>;

}  // namespace trainyard::testing
