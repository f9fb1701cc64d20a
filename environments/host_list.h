// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::environments {

/// Returns the names that a list of hosts in the syntax of Slurm stands for, in its order: "n[08-10,12],m01" is n08,
/// n09, n10, n12 and m01. A name can contain several pairs of brackets; the last counts fastest, so "r[0-1]n[0-1]" is
/// r0n0, r0n1, r1n0 and r1n1. A number keeps the zeros with which the lower end of its range begins.
///
/// The list comes from a variable, so it is not trusted: at most kMostHosts names are made, and the check comes before
/// memory is used. Throws kInvalidArgument with the part of the list that is wrong; `where` names the environment.
std::vector<std::string> expand_host_list(std::string_view list, const std::string& where);

}  // namespace trainyard::environments
