// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <string>

namespace trainyard {

/// A parameter that was changed during the run, in a component that exists for each rank. The value is the same on
/// every rank.
struct Setting {
  static constexpr const char* kTypeName = "Setting";

  std::string component;  ///< The name without the rank: "optimizer".
  std::string parameter;
  std::string value;  ///< The new value as JSON, in the form that `param.set` accepts.
  /// The value from the launch file, as JSON. If the launch file of a resumed run contains a different value, that
  /// value applies and this setting is ignored.
  std::string instead_of;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(parameter), CEREAL_NVP(value), CEREAL_NVP(instead_of));
  }
};

}  // namespace trainyard
