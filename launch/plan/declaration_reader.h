// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "core/plugin/plugin_info.h"

namespace trainyard::launch {

/// The maximum size of a member's declaration, in bytes.
constexpr std::size_t kMostDeclarationBytes = std::size_t{1} << 20;

/// Reads the declaration of a member, which is a program in another language that is a full component of the run. It is
/// JSON in the form that `trainyard-process --describe` prints for a plugin, except that a member may leave out
/// everything that has a default (docs/wire_format.md, section 9). The text is not trusted, so unknown keys are
/// refused, and all sizes are limited. Throws kInvalidArgument with the position in the declaration, such as
/// "outputs[0].schema: line 2: ...".
core::PluginInfo read_declaration(const std::string& text);

}  // namespace trainyard::launch
