// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "viewer/identity.h"
#include "visitors/run_info.h"

namespace trainyard::viewer {

/// Returns what a running launch is called and where it is. `answer` is what its registry says to the question "run".
Identity live_identity(const visitors::RunInfo& info, const nlohmann::json& answer);

}  // namespace trainyard::viewer
