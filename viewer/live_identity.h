// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "viewer/identity.h"
#include "visitors/run_info.h"

namespace trainyard::viewer {

/// Returns the identity of a running launch. `answer` is its launcher's answer to the question "run"
/// (visitors::RegistryClient::ask).
Identity live_identity(const visitors::RunInfo& info, const nlohmann::json& answer);

}  // namespace trainyard::viewer
