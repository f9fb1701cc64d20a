// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "visitors/registry_client.h"

namespace trainyard::tools {

/// Returns the registry's description of a topic, whose leading slash may be missing. Throws kNotFound, which suggests
/// the nearest name, if there is no such topic.
nlohmann::json find_topic(visitors::RegistryClient& registry, const std::string& name);

}  // namespace trainyard::tools
