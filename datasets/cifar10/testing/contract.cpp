// SPDX-License-Identifier: Apache-2.0
#include "datasets/testing/contract.h"

#include <fmt/format.h>

namespace trainyard::testing {
namespace {

/// Returns `count` records. Record i has label i modulo 10, and its first pixel has the value i.
std::string records(int first, int count) {
  std::string bytes;
  for (int i = first; i < first + count; ++i) {
    bytes += static_cast<char>(i % 10);
    for (int pixel = 0; pixel < 3 * 32 * 32; ++pixel) bytes += static_cast<char>(i + pixel);
  }
  return bytes;
}

const DatasetContract cifar10("cifar10", [](const TemporaryFolder& folder) {
  folder.write("whole/data_batch_1.bin", records(0, 9));
  folder.write("whole/test_batch.bin", records(100, 3));
  const std::string cut = folder.write("cut/data_batch_1.bin", records(0, 2).substr(0, 5000));
  const std::string label = folder.write("label/data_batch_1.bin", "\x0b" + records(0, 1).substr(1));
  const auto parameters = [&](const char* name) {
    return fmt::format(R"({{"folder": "{}", "files": 1, "train_count": {}}})", folder.path(name),
                       name == std::string("whole") ? 6 : 0);
  };
  return DatasetCase{.parameters = parameters("whole"),
                     .broken = {{parameters("cut"), cut}, {parameters("label"), label}}};
});

}  // namespace
}  // namespace trainyard::testing
