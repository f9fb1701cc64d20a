// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/keys/key.h"

namespace trainyard::front_door {

/// Throws kInvalidArgument, with the reason, if the owner of the key `visitor` may not send `question` to the run's
/// registry (the socket at which the launcher answers questions). With the role `watch`, only questions that are known
/// to change nothing are allowed. Nobody may announce a topic through the front door (the component to which programs
/// on other hosts connect), because the run could not connect to a publisher on another host.
void check_permission(const core::PublicKey& visitor, const nlohmann::json& question);

}  // namespace trainyard::front_door
