// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::environments {

/// Expands a list of hosts in the syntax of Slurm: "n[08-10,12],m01" stands for n08, n09, n10, n12 and m01, in this
/// order. A name can contain several pairs of brackets, of which the last varies fastest: "r[0-1]n[0-1]" stands for
/// r0n0, r0n1, r1n0 and r1n1. Numbers keep the leading zeros of the lower end of their range.
///
/// Because the list comes from a variable, it is not trusted: at most kMostHosts names are allowed, and this is checked
/// before memory is allocated. Throws kInvalidArgument with the part of the list that is wrong; `where` names the
/// environment in the error.
std::vector<std::string> expand_host_list(std::string_view list, const std::string& where);

}  // namespace trainyard::environments
