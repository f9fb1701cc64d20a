// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launch/plan/catalogue.h"
#include "launch/plan/given_parameter.h"

namespace trainyard::launch {

/// Checks the values given for one plugin against its declaration, and also those of every plugin that a parameter
/// names. For missing parameters, errors name the place `where` and the path `key`.
class ParameterCheck {
 public:
  explicit ParameterCheck(Catalogue& catalogue) : catalogue_(catalogue) {}

  /// Throws for the first invalid value, with file, line and key. `depth` counts plugins inside plugins.
  void check(const std::vector<ParameterInfo>& declared, const Given& given, const Origin& where,
             const std::string& key, int depth = 0);

 private:
  // Checks a parameter that is given. If it names a plugin, checks that plugin's parameters as well.
  void check_one(const ParameterInfo& info, const GivenParameter& given, int depth);
  // Checks a parameter that is not given, which is an error if it was required.
  void check_missing(const ParameterInfo& info, const Origin& where, const std::string& key, int depth);
  void check_plugins(const std::string& kind, const GivenParameter& given, int depth);
  void check_plugin(const std::string& kind, const GivenParameter& given, int depth);

  Catalogue& catalogue_;
};

}  // namespace trainyard::launch
