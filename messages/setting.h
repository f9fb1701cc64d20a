// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <string>

namespace trainyard {

/// A change of a parameter during the run, in a component that exists for each rank. The new value is the same on every
/// rank.
struct Setting {
  static constexpr const char* kTypeName = "Setting";

  std::string component;  ///< The name of the component without the rank, such as "optimizer".
  std::string parameter;
  std::string value;  ///< The new value as JSON.
  /// The value before the first change, from the launch file or by default, as JSON. If a resumed run is launched with
  /// a value other than this, the resumed run uses that value and ignores this setting.
  std::string instead_of;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(parameter), CEREAL_NVP(value), CEREAL_NVP(instead_of));
  }
};

}  // namespace trainyard
