// SPDX-License-Identifier: Apache-2.0
#include "datasets/testing/contract.h"

#include <fmt/format.h>

namespace trainyard::testing {
namespace {

/// Returns numbers of 16 bits, the lower byte first.
std::string tokens(int first, int count) {
  std::string bytes;
  for (int token = first; token < first + count; ++token) {
    bytes += {static_cast<char>(token & 0xff), static_cast<char>(token >> 8)};
  }
  return bytes;
}

const DatasetContract tokens_contract("tokens", [](const TemporaryFolder& folder) {
  const std::string path = folder.write("all.bin", tokens(0, 300));
  const std::string odd = folder.write("odd.bin", tokens(0, 300) + "x");
  const std::string beyond = folder.write("beyond.bin", tokens(0, 50) + tokens(400, 250));
  const auto parameters = [](const std::string& file) {
    return fmt::format(R"({{"path": "{}", "context": 8, "vocabulary": 300}})", file);
  };
  return DatasetCase{.parameters = parameters(path), .broken = {{parameters(odd), odd}, {parameters(beyond), beyond}}};
});

}  // namespace
}  // namespace trainyard::testing
