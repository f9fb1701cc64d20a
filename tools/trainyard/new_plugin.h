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

/// Throws kInvalidArgument if `name` is not a valid name for a new plugin. A valid name begins with a letter and
/// consists of at most 64 lower-case letters, digits and single underscores between them, because the folder, the C++
/// files, the class and the CMake target are named after it. Names that end with "_test" are refused, as are names such
/// as "dataset", whose class (Dataset) already exists in Trainyard.
void check_plugin_name(const std::string& name);

/// Copies the template for a kind of plugin to the folder `directory`, and replaces the template's name with `name` in
/// the contents and in the names of the files. The folder must be empty or not exist yet. Returns the names of the new
/// files. Throws kInvalidArgument if the folder is not empty, kNotFound if the templates are not installed, and kIo if
/// a file cannot be read or written.
std::vector<std::string> make_plugin(const std::string& kind, const std::string& name, const std::string& directory);

}  // namespace trainyard::tools
