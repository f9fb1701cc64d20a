// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trainyard::tools {

/// Returns the kinds of plugins for which there are templates, as users name them.
const std::vector<std::string>& plugin_kinds();

/// Returns the class name for a plugin: "RandomInvert" for "random_invert".
std::string class_name_of(const std::string& name);

/// Throws kInvalidArgument for a name that a new plugin cannot have. The name becomes that of a folder, of C++ files
/// and a class, of a CMake target, and of the plugin in launch files, so it consists of small letters, digits and
/// single underscores, and begins with a letter.
void check_plugin_name(const std::string& name);

/// Copies the template of a kind to the folder `directory`, which must not exist or be empty, with `name` in place of
/// the template's name. Returns the names of the files. Throws kInvalidArgument for a folder with other files in it,
/// kNotFound if the templates are not installed, and kIo.
std::vector<std::string> make_plugin(const std::string& kind, const std::string& name, const std::string& directory);

}  // namespace trainyard::tools
