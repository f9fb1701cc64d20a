// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/config/parameter_info.h"
#include "visitors/registry_client.h"

namespace trainyard::tools {

/// A parameter of a running component: its declaration and its current value.
struct RunningParameter {
  ParameterInfo info;
  nlohmann::json value;
};

/// Returns the parameters of a component in the order of their declaration. Throws what RegistryClient::call() throws,
/// and kCorrupt if the answer is not a list of parameters.
std::vector<RunningParameter> list_parameters(visitors::RegistryClient& registry, const std::string& component);

/// Returns the names of the run's components as in the launch file: a component that exists for each rank is listed
/// once, without its rank. External programs are not listed, because they do not answer requests.
std::vector<std::string> configurable_components(visitors::RegistryClient& registry);

/// Converts `value`, a value of the parameter that `info` describes, to the form in which components report values, so
/// that it can be compared with a reported value. For example, if a user gives a plugin only by its name, the value
/// becomes a table.
nlohmann::json normalised(const ParameterInfo& info, const nlohmann::json& value);

}  // namespace trainyard::tools
