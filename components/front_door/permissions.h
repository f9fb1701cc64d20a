// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/keys/key.h"

namespace trainyard::front_door {

/// Throws kInvalidArgument, with the reason, unless the owner of this key may ask this question of the registry. With
/// the role watch, only questions are allowed that are known to change nothing. No visitor from another host may
/// announce a topic, because the run could not reach it.
void check_permission(const core::PublicKey& visitor, const nlohmann::json& question);

}  // namespace trainyard::front_door
