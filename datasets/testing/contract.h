// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// The input of the contract test of datasets for one dataset plugin. The data must be small, and all samples must be
/// different.
struct DatasetCase {
  /// The parameters of the dataset, as a JSON object. The files that they name have been written to the folder of the
  /// case.
  std::string parameters = "{}";

  /// A case in which a file is damaged. A dataset that reads files must have at least one.
  struct Broken {
    std::string parameters;  ///< The parameters that name the damaged file.
    std::string path;        ///< The path of the damaged file, which the error must contain.
  };
  std::vector<Broken> broken;
};

using DatasetContract = ContractCase<DatasetCase>;

}  // namespace trainyard::testing
