// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::environments {

/// Expands a list of hosts in the syntax of Slurm, and returns the names in the order of the list: "n[08-10,12],m01"
/// stands for n08, n09, n10, n12 and m01. A name can contain several pairs of brackets, of which the last varies
/// fastest: "r[0-1]n[0-1]" stands for r0n0, r0n1, r1n0 and r1n1. If the lower end of a range has leading zeros, all
/// numbers of the range are padded to its width.
///
/// The list comes from an environment variable, so it is not trusted. Throws kInvalidArgument if the list is malformed
/// (the error contains the part that is wrong), or if it stands for more than kMostHosts names. The number of names is
/// checked before memory is allocated for them. `where` names the environment in the error message.
std::vector<std::string> expand_host_list(std::string_view list, const std::string& where);

}  // namespace trainyard::environments
