// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::lsf {

/// Returns the hosts in a list of names and numbers of slots, "a 4 b 4". Throws kInvalidArgument if the list has
/// another form; `where` names the environment.
std::vector<std::string> hosts_with_counts(std::string_view text, const std::string& where);

/// Returns the hosts in a text with one word for each slot, "a a b b", each host once, in the order in which they
/// occur.
std::vector<std::string> hosts_of_slots(std::string_view text);

}  // namespace trainyard::lsf
