// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "core/plugin/plugin_info.h"
#include "launch/file/launch_file.h"

namespace trainyard::launch {

/// The declarations of the members of a launch file, by their tables in the file. A member is a program in another
/// language that is a full component of the run.
using MemberDeclarations = std::map<const ComponentSpec*, core::PluginInfo>;

/// Returns the declarations of all members of the file. A member with `declaration = "describe"` is run with the
/// argument `--describe`, and must answer before a deadline. The answer is not stored for the next launch, because only
/// the program knows on which files it depends. Throws, with the position in the file, if the program fails, or if its
/// output or the content of the file is not a declaration.
MemberDeclarations declare_members(const LaunchFile& file);

}  // namespace trainyard::launch
