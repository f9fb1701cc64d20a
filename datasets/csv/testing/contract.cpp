// SPDX-License-Identifier: Apache-2.0
#include "datasets/testing/contract.h"

#include <fmt/format.h>

namespace trainyard::testing {
namespace {

const DatasetContract csv("csv", [](const TemporaryFolder& folder) {
  std::string rows = "length,width,kind\n";
  for (int i = 0; i < 30; ++i) rows += fmt::format("{},{},{}\n", i, 0.5 * i, i % 3);
  const std::string path = folder.write("rows.csv", rows);
  const std::string broken = folder.write("broken.csv", rows + "one,2,0\n");
  const auto parameters = [](const std::string& file) { return fmt::format(R"({{"path": "{}"}})", file); };
  return DatasetCase{.parameters = parameters(path), .broken = {{parameters(broken), broken}}};
});

}  // namespace
}  // namespace trainyard::testing
