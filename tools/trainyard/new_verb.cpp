// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "launch/file/shipped_files.h"
#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/new_plugin.h"
#include "tools/trainyard/planning.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace fs = std::filesystem;
namespace {

constexpr const char* kNewFooter =
    "KIND is component, model, dataset, transform, strategy, accelerator or\n"
    "collective. NAME consists of lower-case letters, digits and '_'.\n"
    "Example:\n"
    "  trainyard new dataset star_images";

/// The folder in which the documentation suggests to install Trainyard.
constexpr const char* kSuggestedPrefix = "$HOME/trainyard";

struct NewArguments {
  std::string kind;
  std::string name;
  std::string directory;
};

void check_kind(const std::string& kind) {
  if (std::ranges::find(plugin_kinds(), kind) != plugin_kinds().end()) return;
  throw Error(Code::kInvalidArgument, "no kind of plugin '{}'{}", kind, suggestion(kind, plugin_kinds()));
}

/// Throws kInvalidArgument if a plugin of this kind and name exists already. Otherwise one of the two plugins would
/// hide the other.
void refuse_name_in_use(const std::string& kind, const std::string& name) {
  for (const PluginLabel& label : open_catalogue()->list()) {
    if (label.kind == kind && label.name == name) {
      throw Error(Code::kInvalidArgument, "there is a {} '{}' already; choose another name", kind, name);
    }
  }
}

/// Returns the folder that contains bin/trainyard.
fs::path own_prefix() { return fs::path(launch::shared_folder("")).parent_path().parent_path().parent_path(); }

bool is_build_folder(const fs::path& prefix) { return fs::exists(prefix / "CMakeCache.txt"); }

/// Returns the option that tells CMake where Trainyard is installed, or an empty text if it is installed below /usr,
/// where CMake searches without the option.
std::string prefix_option() {
  const fs::path prefix = own_prefix();
  if (prefix == "/usr" || prefix == "/usr/local") return "";
  return fmt::format(" -DCMAKE_PREFIX_PATH={}", is_build_folder(prefix) ? kSuggestedPrefix : prefix.string());
}

/// Prints how to install Trainyard if this command runs from a build folder, which lacks the headers and the CMake
/// package that building a plugin requires.
void print_installation() {
  const fs::path prefix = own_prefix();
  if (!is_build_folder(prefix)) return;
  fmt::print(
      "\nThis is the trainyard of a build folder. Plugins are built with an installation, so install it first:\n");
  fmt::print("  cmake --install {} --prefix {}\n", prefix.string(), kSuggestedPrefix);
}

void print_next_steps(const std::string& directory) {
  const std::string build = directory + "/build";
  print_installation();
  fmt::print("\nBuild it, and run its test:\n");
  fmt::print("  cmake -S {} -B {} -DTRAINYARD_TESTS=ON{}\n", directory, build, prefix_option());
  fmt::print("  cmake --build {}\n  ctest --test-dir {}\n", build, build);
  fmt::print("Train with it:\n");
  fmt::print("  export TRAINYARD_PLUGIN_PATH={}{}/plugins${{TRAINYARD_PLUGIN_PATH:+:$TRAINYARD_PLUGIN_PATH}}\n",
             fs::path(build).is_absolute() ? "" : "$PWD/", build);
  fmt::print("  trainyard launch {}/try.toml\n", directory);
}

int make(const NewArguments& arguments) {
  check_kind(arguments.kind);
  check_plugin_name(arguments.name);
  refuse_name_in_use(arguments.kind, arguments.name);
  const std::string directory = arguments.directory.empty() ? arguments.name : arguments.directory;
  const std::vector<std::string> files = make_plugin(arguments.kind, arguments.name, directory);
  const std::string shown = printable_line(directory);
  fmt::print("{}: a new {} in the files {}\n", shown, arguments.kind, fmt::join(files, ", "));
  print_next_steps(shown);
  return kExitOk;
}

}  // namespace

void add_new(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      app.add_subcommand("new", "Make a folder with a plugin that builds and has a test")->footer(kNewFooter);
  const auto arguments = std::make_shared<NewArguments>();
  verb->add_option("KIND", arguments->kind, "the kind of plugin")->required();
  verb->add_option("NAME", arguments->name, "the name of the plugin")->required();
  verb->add_option("--directory", arguments->directory, "the new folder (NAME)")->type_name("FOLDER");
  verb->callback([=, &chosen] { chosen = [=] { return make(*arguments); }; });
}

}  // namespace trainyard::tools
