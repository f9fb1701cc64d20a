// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::lsf {

/// Returns the hosts in a list in which each name is followed by a number of slots, such as "a 4 b 4". Throws
/// kInvalidArgument if the list has another form; `where` is the name of the environment in the error message.
std::vector<std::string> hosts_with_counts(std::string_view text, const std::string& where);

/// Returns the hosts in a text that names the host of each slot, such as "a a b b". The result contains each host once,
/// in the order of the text.
std::vector<std::string> hosts_of_slots(std::string_view text);

}  // namespace trainyard::lsf
