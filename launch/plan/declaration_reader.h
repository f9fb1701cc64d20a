// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "core/plugin/plugin_info.h"

namespace trainyard::launch {

/// The largest declaration of a member that is read.
constexpr std::size_t kMostDeclarationBytes = std::size_t{1} << 20;

/// Reads the declaration of a member: JSON in the form that `trainyard-process --describe` prints for a plugin, of
/// which a member may leave out what has a default (docs/wire_format.md, section 9). The text comes from a stranger:
/// nothing unknown is ignored, and everything is bounded. Throws kInvalidArgument with the place inside the
/// declaration, such as "outputs[0].schema: line 2: ...".
core::PluginInfo read_declaration(const std::string& text);

}  // namespace trainyard::launch
