// SPDX-License-Identifier: Apache-2.0
#include "datasets/testing/contract.h"

#include <fmt/format.h>

namespace trainyard::testing {
namespace {

const DatasetContract text("text", [](const TemporaryFolder& folder) {
  std::string numbers;
  for (int i = 100; i < 200; ++i) numbers += fmt::format("{} é ", i);
  const std::string path = folder.write("numbers.txt", numbers);
  const std::string broken = folder.write("broken.txt", numbers + "\xff");
  const auto parameters = [](const std::string& file) {
    return fmt::format(R"({{"path": "{}", "context": 10}})", file);
  };
  return DatasetCase{.parameters = parameters(path), .broken = {{parameters(broken), broken}}};
});

}  // namespace
}  // namespace trainyard::testing
