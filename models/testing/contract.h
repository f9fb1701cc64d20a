// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// States how the contract test, which tests the rules that every model must obey, creates one model plugin.
struct ModelCase {
  std::string parameters = "{}";  ///< The parameters of the model, as a JSON object. Small sizes keep the test fast.

  /// The names of the test's datasets that the model accepts: "vectors" (with classes as targets), "numbers" (vectors
  /// with numbers as targets), "images" or "tokens". If the list is empty, the test tries all of them, and fails if the
  /// model accepts none.
  std::vector<std::string> data;

  bool trains = true;  ///< False if the model refuses to train; it then only evaluates and predicts.

  /// If this is not empty, the model is not tested, because something is missing on this machine. The text states what.
  std::string skipped;
};

using ModelContract = ContractCase<ModelCase>;

}  // namespace trainyard::testing
