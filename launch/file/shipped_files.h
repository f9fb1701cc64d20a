// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trainyard::launch {

/// Returns the folder share/trainyard/<name> of the installation or of the build folder to which this program belongs.
/// It need not exist.
std::string shared_folder(const std::string& name);

/// Returns the path of the launch file `name`, such as "mnist.toml", that comes with Trainyard. Returns an empty string
/// if there is no such file.
std::string shipped_file(const std::string& name);

/// Returns the names of all launch files that come with Trainyard, in no particular order.
std::vector<std::string> shipped_files();

/// Returns the last part of the error about a missing launch file: ", nor one that comes with Trainyard; did you mean
/// 'mnist.toml'? known: ...". Returns an empty string if Trainyard's launch files are not installed.
std::string shipped_suggestion(const std::string& name);

}  // namespace trainyard::launch
