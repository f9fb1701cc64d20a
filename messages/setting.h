// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <string>

namespace trainyard {

/// A parameter that was changed during the run, in a component that exists for each rank. Its value is the same on
/// every rank.
struct Setting {
  static constexpr const char* kTypeName = "Setting";

  std::string component;  ///< The name without the rank: "optimizer".
  std::string parameter;
  std::string value;  ///< The new value as JSON, as `param.set` takes it.
  /// The value that the launch file gave, as JSON. A resumed run whose launch file gives another value keeps that other
  /// value.
  std::string instead_of;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(parameter), CEREAL_NVP(value), CEREAL_NVP(instead_of));
  }
};

}  // namespace trainyard
