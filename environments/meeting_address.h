// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "environments/allocation.h"

namespace trainyard::environments {

/// Reads "HOST" or "HOST:PORT"; an IPv6 address with a port is in brackets, "[fd00::1]:29500". Without a port, the
/// result has no ports. Throws kInvalidArgument for anything else; `where` names the environment, and `source` the
/// variable or parameter.
MeetingPlace parse_meeting_address(std::string_view text, const std::string& where, std::string_view source);

}  // namespace trainyard::environments
