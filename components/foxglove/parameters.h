// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "visitors/registry_client.h"

namespace trainyard::foxglove {

// These functions read and set the parameters of the run's components for Foxglove clients. For clients, the name of a
// parameter is "/COMPONENT/PARAMETER".

/// The result of a request to read or set parameters.
struct ParameterAnswer {
  /// The current values of the parameters, as a list in the format of the Foxglove protocol.
  nlohmann::json values = nlohmann::json::array();
  std::vector<std::string> refusals;  ///< A text for the user for each parameter that was refused, with the reason.
};

/// Reads the parameters with these names; if `names` is empty, reads all parameters of the components in `owners`.
/// Throws kTimeout if the launcher does not answer.
ParameterAnswer read_parameters(visitors::RegistryClient& registry, const std::vector<std::string>& owners,
                                const std::vector<std::string>& names);

/// Sets parameters. `parameters` is a list in the format of the Foxglove protocol. The answer contains the values that
/// these parameters have afterwards, including those that were refused and so have not changed. Throws kTimeout if the
/// launcher does not answer.
ParameterAnswer set_parameters(visitors::RegistryClient& registry, const nlohmann::json& parameters);

}  // namespace trainyard::foxglove
