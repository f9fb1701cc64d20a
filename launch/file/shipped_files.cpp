// SPDX-License-Identifier: Apache-2.0
#include "launch/file/shipped_files.h"

#include <filesystem>

#include "messages/nearest.h"

namespace trainyard::launch {
namespace {

namespace fs = std::filesystem;

fs::path shipped_folder() { return shared_folder("launch"); }

}  // namespace

// The folder share/ is next to the folder of the program, both in an installation and in a build folder.
std::string shared_folder(const std::string& name) {
  std::error_code none;  // If /proc is not available, no files are found.
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  return program.parent_path().parent_path() / "share" / "trainyard" / name;
}

std::string shipped_file(const std::string& name) {
  const fs::path path = shipped_folder() / name;
  std::error_code none;
  return fs::path(name).filename() == name && fs::is_regular_file(path, none) ? path.string() : "";
}

std::vector<std::string> shipped_files() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(shipped_folder(), none)) names.push_back(entry.path().filename());
  return names;
}

std::string shipped_suggestion(const std::string& name) {
  std::vector<std::string> known = shipped_files();
  return known.empty() ? "" : ", nor one that comes with Trainyard" + suggestion(name, std::move(known));
}

}  // namespace trainyard::launch
