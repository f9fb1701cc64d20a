// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <string>

namespace trainyard {

/// A change that a user has made during the run to a parameter (a setting, not a weight of the model) of a component
/// that exists for each rank. The new value is the same on every rank.
struct Setting {
  static constexpr const char* kTypeName = "Setting";

  std::string component;  ///< The name of the component without the rank, such as "optimizer".
  std::string parameter;
  std::string value;  ///< The new value as JSON.
  /// The value before the first change, as JSON: the value from the launch file, or the default. If a resumed run is
  /// launched with another value, the resumed run uses the value with which it is launched, and ignores the change.
  std::string instead_of;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(parameter), CEREAL_NVP(value), CEREAL_NVP(instead_of));
  }
};

}  // namespace trainyard
