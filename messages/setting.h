// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <string>

namespace trainyard {

/// A parameter that was changed while the run went on, in a component that is made for each rank. It is the same on
/// every rank.
struct Setting {
  static constexpr const char* kTypeName = "Setting";

  std::string component;  ///< Without the rank: "optimizer".
  std::string parameter;
  std::string value;  ///< JSON, as `param.set` takes it.
  /// JSON: the value that the launch file gave. A resumed run that is launched with another one keeps that one.
  std::string instead_of;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(component), CEREAL_NVP(parameter), CEREAL_NVP(value), CEREAL_NVP(instead_of));
  }
};

}  // namespace trainyard
