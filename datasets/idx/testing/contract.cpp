// SPDX-License-Identifier: Apache-2.0
#include "datasets/testing/contract.h"

#include <fmt/format.h>

namespace trainyard::testing {
namespace {

using namespace std::string_literals;

/// `count` images of 1 x 2 pixels; image i has the pixels `first` + i and i.
std::string images(int count, int first) {
  std::string bytes = "\0\0\x08\x03\0\0\0"s + static_cast<char>(count) + "\0\0\0\1\0\0\0\2"s;
  for (int i = 0; i < count; ++i) bytes += {static_cast<char>(first + i), static_cast<char>(i)};
  return bytes;
}

std::string labels(int count) {
  std::string bytes = "\0\0\x08\x01\0\0\0"s + static_cast<char>(count);
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(i % 4);
  return bytes;
}

const DatasetContract idx("idx", [](const TemporaryFolder& folder) {
  folder.write("whole/train-images-idx3-ubyte", images(10, 0));
  folder.write("whole/train-labels-idx1-ubyte", labels(10));
  folder.write("whole/t10k-images-idx3-ubyte", images(5, 100));
  folder.write("whole/t10k-labels-idx1-ubyte", labels(5));
  const std::string broken = folder.write("cut/train-images-idx3-ubyte", images(10, 0).substr(0, 20));
  folder.write("cut/train-labels-idx1-ubyte", labels(10));
  return DatasetCase{
      .parameters = fmt::format(R"({{"folder": "{}", "train_count": 7}})", folder.path("whole")),
      .broken = {{fmt::format(R"({{"folder": "{}"}})", folder.path("cut")), broken}},
  };
});

}  // namespace
}  // namespace trainyard::testing
