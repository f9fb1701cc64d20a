// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/testing/contract_cases.h"

namespace trainyard::testing {

/// What the contract test of datasets needs to know about one dataset. The data is small and contains no sample twice.
struct DatasetCase {
  /// A JSON object; the files that it names have been written into the folder of the case.
  std::string parameters = "{}";

  /// The same parameters with a file that is broken. A dataset that reads files has at least one such case.
  struct Broken {
    std::string parameters;
    std::string path;  ///< The path of the broken file, as the error must name it.
  };
  std::vector<Broken> broken;
};

using DatasetContract = ContractCase<DatasetCase>;

}  // namespace trainyard::testing
