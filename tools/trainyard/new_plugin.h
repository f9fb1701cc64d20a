// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trainyard::tools {

/// Returns the kinds of plugins for which templates exist, such as "dataset", in the spelling that `trainyard new`
/// accepts.
const std::vector<std::string>& plugin_kinds();

/// Returns the class name for a plugin: "RandomInvert" for "random_invert".
std::string class_name_of(const std::string& name);

/// Throws kInvalidArgument if `name` is not a valid name for a new plugin. It must begin with a letter and consist of
/// lower-case letters, digits and single underscores, because it becomes the name of a folder, of C++ files, a class
/// and a CMake target, and of the plugin in launch files. Names that end with "_test", and names of Trainyard's own
/// classes such as "dataset", are refused, too.
void check_plugin_name(const std::string& name);

/// Copies the template for a kind of plugin to the folder `directory`, and replaces the template's name with `name` in
/// the contents and in the names of the files. The folder must be empty or not exist yet. Returns the names of the new
/// files. Throws kInvalidArgument if the folder is not empty, kNotFound if the templates are not installed, and kIo if
/// a file cannot be read or written.
std::vector<std::string> make_plugin(const std::string& kind, const std::string& name, const std::string& directory);

}  // namespace trainyard::tools
