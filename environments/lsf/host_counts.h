// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::lsf {

/// Returns the host names in a list such as "a 4 b 4", in which each name is followed by the number of slots (processor
/// cores, usually) that the job has on the host. Throws kInvalidArgument if the list has another form; `where` names
/// the environment in the error message.
std::vector<std::string> hosts_with_counts(std::string_view text, const std::string& where);

/// Returns the host names in a text such as "a a b b", which names a host once for each of its slots. The result
/// contains each name once, in the order of the text.
std::vector<std::string> hosts_of_slots(std::string_view text);

}  // namespace trainyard::lsf
