// SPDX-License-Identifier: Apache-2.0
#include "messages/dtype.h"

#include <array>

namespace trainyard {
namespace {

/// Indexed by the number of the DType.
struct Row {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<Row, 10> kRows{{{"uint8", 1},
                                     {"int8", 1},
                                     {"int16", 2},
                                     {"int32", 4},
                                     {"int64", 8},
                                     {"float16", 2},
                                     {"bfloat16", 2},
                                     {"float32", 4},
                                     {"float64", 8},
                                     {"bool", 1}}};

}  // namespace

// The number may come from an untrusted sender, so the table must not be read beyond its end.
std::size_t size_of(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  return index < kRows.size() ? kRows[index].bytes : 0;
}

std::string_view name_of(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  return index < kRows.size() ? kRows[index].name : "invalid";
}

}  // namespace trainyard
