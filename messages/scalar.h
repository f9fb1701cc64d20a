// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// A named number: one metric. The name is what logs and tables show ("loss", "accuracy"). A unit belongs in the name.
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
