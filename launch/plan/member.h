// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "core/plugin/plugin_info.h"
#include "launch/file/launch_file.h"

namespace trainyard::launch {

/// What the members of a launch file declare, by their table in the file.
using MemberDeclarations = std::map<const ComponentSpec*, core::PluginInfo>;

/// Returns the declarations of all members of the file. A member with `declaration = "describe"` is run with the
/// argument `--describe` and has a deadline; the answer is not kept for the next launch, because nobody but the program
/// knows on which files it depends. Throws, with the position in the file, if the program fails, or if what it prints
/// or what the file contains is not a declaration.
MemberDeclarations declare_members(const LaunchFile& file);

}  // namespace trainyard::launch
