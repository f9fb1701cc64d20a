// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "visitors/registry_client.h"

namespace trainyard::tools {

/// Returns the description of a topic of a running launch, as JSON from the launcher's registry (docs/wire_format.md
/// describes its fields). The leading slash of `name` may be omitted. Throws kNotFound if there is no such topic; the
/// error message suggests the most similar name.
nlohmann::json find_topic(visitors::RegistryClient& registry, const std::string& name);

}  // namespace trainyard::tools
