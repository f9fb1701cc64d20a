// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "environments/allocation.h"

namespace trainyard::environments {

/// Parses "HOST" or "HOST:PORT". An IPv6 address that is followed by a port must be in brackets, as in
/// "[fd00::1]:29500". If `text` has no port, the result has no ports. Throws kInvalidArgument for any other text; the
/// error message names the environment (`where`) and the variable or parameter that contains the text (`source`).
MeetingPlace parse_meeting_address(std::string_view text, const std::string& where, std::string_view source);

}  // namespace trainyard::environments
