// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "environments/process_facts.h"

namespace trainyard::environments {

/// Throws kInvalidArgument if `name` cannot be the name or the address of a host. A valid name consists of 1 to 253
/// letters, digits, '.', '-', '_' and ':', and does not begin with '-'. `where` names the environment in the error
/// message.
void check_host_name(std::string_view name, const std::string& where);

/// Returns the position of this host in the list `names`, counted from 0. An entry matches if it is this host's name or
/// an address of one of this host's network interfaces. If no entry matches, the names are compared only up to the
/// first dot. Throws kNotFound, with this host's name and the list, if no entry or more than one entry matches. `where`
/// names the environment in the error message, and `source` the origin of the list, such as "LSB_MCPU_HOSTS".
std::uint32_t own_number(std::span<const std::string> names, const ProcessFacts& facts, const std::string& where,
                         std::string_view source);

/// Returns the names as a list for an error message, shortened if there are more than five: "n0, n1, n2, n3, n4 and 59
/// more".
std::string short_list(std::span<const std::string> names);

}  // namespace trainyard::environments
