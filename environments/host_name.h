// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "environments/process_facts.h"

namespace trainyard::environments {

/// Throws kInvalidArgument unless `name` has the form of a host's name or address: 1 to 253 letters, digits, '.', '-',
/// '_' and ':', the first of which is not '-'. `where` names the environment in the error.
void check_host_name(std::string_view name, const std::string& where);

/// Returns the number of this host in the list `names`. The host's name must occur once, either in full or, if it does
/// not occur in full, shortened at its first dot. A name can also be an address of one of this host's network
/// interfaces. Throws kNotFound, with this host's name and the list, if no name or several names belong to this host.
/// `where` names the environment in the error, and `source` says where the list comes from, such as "LSB_MCPU_HOSTS".
std::uint32_t own_number(std::span<const std::string> names, const ProcessFacts& facts, const std::string& where,
                         std::string_view source);

/// Returns a list of names for an error message, shortened if it is long: "n0, n1, n2 and 61 more".
std::string short_list(std::span<const std::string> names);

}  // namespace trainyard::environments
