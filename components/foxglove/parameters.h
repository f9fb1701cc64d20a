// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "visitors/registry_client.h"

namespace trainyard::foxglove {

// The parameters of the run's components, as clients see them. The name of a parameter is "/COMPONENT/PARAMETER".

/// The result of a request to read or set parameters.
struct ParameterAnswer {
  /// The current values of the parameters, in the form of the protocol.
  nlohmann::json values = nlohmann::json::array();
  std::vector<std::string> refusals;  ///< Sentences for the user that say what was refused and why.
};

/// Reads the parameters with these names; if `names` is empty, reads all parameters of the components in `owners`.
/// Throws kTimeout if the launcher does not answer.
ParameterAnswer read_parameters(visitors::RegistryClient& registry, const std::vector<std::string>& owners,
                                const std::vector<std::string>& names);

/// Sets parameters. `parameters` is a list in the form of the protocol. The answer contains the values that these
/// parameters have afterwards. Throws kTimeout if the launcher does not answer.
ParameterAnswer set_parameters(visitors::RegistryClient& registry, const nlohmann::json& parameters);

}  // namespace trainyard::foxglove
