// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// States how the contract test, which tests the rules that every dataset must obey, creates one dataset plugin. The
/// data must be small, and all samples must be different.
struct DatasetCase {
  /// The parameters of the dataset, as a JSON object. If they name files, the function that makes this case must have
  /// written the files to the folder that it is given.
  std::string parameters = "{}";

  /// Parameters with a damaged file, for which the dataset must throw an error. A dataset that reads files must have at
  /// least one such case.
  struct Broken {
    std::string parameters;  ///< The parameters that name the damaged file.
    std::string path;        ///< The path of the damaged file, which the error must contain.
  };
  std::vector<Broken> broken;
};

using DatasetContract = ContractCase<DatasetCase>;

}  // namespace trainyard::testing
