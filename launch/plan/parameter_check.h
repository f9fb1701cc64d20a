// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/given_parameter.h"

namespace trainyard::launch {

/// Checks the parameters that a launch file gives to a plugin against the plugin's declaration. If a parameter names
/// another plugin, the parameters of that plugin are checked in the same way.
class ParameterCheck {
 public:
  explicit ParameterCheck(Catalogue& catalogue) : catalogue_(catalogue) {}

  /// Throws for the first parameter that is unknown, invalid or missing, with the file, the line and the key. For a
  /// missing parameter, `where` and `key` are the position and the key of the plugin. `depth` is the number of plugins
  /// within which this plugin is nested.
  void check(const std::vector<ParameterInfo>& declared, const Given& given, const Origin& where,
             const std::string& key, int depth = 0);

 private:
  // Checks a parameter that is given. If it names a plugin, checks the parameters of that plugin, too.
  void check_one(const ParameterInfo& info, const GivenParameter& given, int depth);
  // Checks a parameter that is not given. Throws if it is required.
  void check_missing(const ParameterInfo& info, const Origin& where, const std::string& key, int depth);
  void check_plugins(const std::string& kind, const GivenParameter& given, int depth);
  void check_plugin(const std::string& kind, const GivenParameter& given, int depth);

  Catalogue& catalogue_;
};

}  // namespace trainyard::launch
