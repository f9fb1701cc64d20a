// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/new_plugin.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "archive/small_file.h"
#include "launch/file/shipped_files.h"
#include "messages/error.h"

namespace trainyard::tools {
namespace {

namespace fs = std::filesystem;

/// The longest name of a plugin. Folder and file names are formed from it by adding suffixes.
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLargestTemplate = 1 << 20;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// Returns the text of a template with the names of the new plugin. The licence line of the template is removed,
/// because the author of the plugin chooses the licence.
std::string filled_in(std::string text, const std::string& kind, const std::string& name) {
  if (text.find("SPDX-License-Identifier") < text.find('\n')) text.erase(0, text.find('\n') + 1);
  replace_all(text, "my_" + kind, name);
  replace_all(text, class_name_of("my_" + kind), class_name_of(name));
  return text;
}

void make_empty_folder(const std::string& directory) {
  std::error_code error;
  if (fs::exists(directory, error) && (!fs::is_directory(directory, error) || !fs::is_empty(directory, error))) {
    throw Error(Code::kInvalidArgument, "{}: exists already; the folder of a new plugin must be new or empty",
                directory);
  }
  fs::create_directories(directory, error);
  if (error) throw Error(Code::kIo, "cannot make the folder {}: {}", directory, error.message());
}

}  // namespace

const std::vector<std::string>& plugin_kinds() {
  static const std::vector<std::string> kinds{"component", "model",       "dataset",   "transform",
                                              "strategy",  "accelerator", "collective"};
  return kinds;
}

std::string class_name_of(const std::string& name) {
  std::string words;
  bool begins = true;
  for (const char c : name) {
    if (c != '_') words += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = c == '_';
  }
  return words;
}

void check_plugin_name(const std::string& name) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  const bool begins = !name.empty() && name[0] >= 'a' && name[0] <= 'z';
  if (!begins || !std::ranges::all_of(name, allowed) || name.ends_with('_') || name.find("__") != name.npos) {
    throw Error(Code::kInvalidArgument,
                "the name '{}' is not allowed: small letters, digits and single '_' between them, and a letter first, "
                "such as 'random_invert'; it names a folder, C++ files, a CMake target and the plugin in launch files",
                name);
  }
  if (name.size() > kLongestName) {
    throw Error(Code::kInvalidArgument, "the name '{}' has {} letters; at most {} are allowed", name, name.size(),
                kLongestName);
  }
  if (name.ends_with("_test")) {
    throw Error(Code::kInvalidArgument, "the name '{}' is not allowed: files that end with _test.cpp are tests", name);
  }
  if (std::ranges::find(plugin_kinds(), name) != plugin_kinds().end() || name == "replica_strategy") {
    throw Error(Code::kInvalidArgument, "the name '{}' is not allowed: the class {} is the interface of plugins", name,
                class_name_of(name));
  }
}

std::vector<std::string> make_plugin(const std::string& kind, const std::string& name, const std::string& directory) {
  const fs::path templates = fs::path(launch::shared_folder("templates")) / kind;
  std::error_code none;
  if (!fs::is_directory(templates, none)) {
    throw Error(Code::kNotFound, "{}: there is no such folder; the templates are not installed", templates.string());
  }
  make_empty_folder(directory);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(templates)) {
    std::string file = entry.path().filename();
    replace_all(file, "my_" + kind, name);
    archive::write_whole_file(directory + "/" + file,
                              filled_in(archive::read_small_file(entry.path(), kLargestTemplate), kind, name));
    files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace trainyard::tools
