// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "visitors/registry_client.h"

namespace trainyard::foxglove {

// The parameters of the run's components, as clients see them. The name of a parameter is "/COMPONENT/PARAMETER".

/// What became of a request for parameters.
struct ParameterAnswer {
  /// The parameters as they are now, in the form of the protocol.
  nlohmann::json values = nlohmann::json::array();
  std::vector<std::string> refusals;  ///< What was refused, and why, as sentences for the user.
};

/// Reads the parameters of these names; without names, all parameters of the components in `owners`. Throws kTimeout if
/// the launcher does not answer.
ParameterAnswer read_parameters(visitors::RegistryClient& registry, const std::vector<std::string>& owners,
                                const std::vector<std::string>& names);

/// Sets parameters, which are given as a list in the form of the protocol. The answer contains those that were named,
/// as they are afterwards. Throws kTimeout if the launcher does not answer.
ParameterAnswer set_parameters(visitors::RegistryClient& registry, const nlohmann::json& parameters);

}  // namespace trainyard::foxglove
