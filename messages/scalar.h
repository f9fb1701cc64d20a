// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// A named number, such as one metric. Logs and tables show the name, such as "loss" or "accuracy". If the number has a
/// unit, the name contains it.
struct Scalar {
  static constexpr const char* kTypeName = "Scalar";

  std::string name;
  double value = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(value));
  }
};

}  // namespace trainyard
