#include "tools/trainyard/planning.h"

#include <CLI/CLI.hpp>

#include "launch/plan/planner.h"
#include "launch/run/process_program.h"
#include "messages/error.h"

namespace trainyard::tools {

void LaunchArguments::add_to(CLI::App& verb) {
  verb.add_option("FILE", file, "launch file (TOML)")->required();
  // All further words: which of them is an argument is known only when the file has been read.
  // The name that is shown cannot be "name=value": CLI11 2.4 (Debian 13) takes no '=' in a name.
  verb.add_option("ARGUMENT", values,
                  "name=value: arguments of the file, or keys of it: component.optimizer.params.lr=0.1");
}

std::unique_ptr<launch::ScannedCatalogue> open_catalogue() {
  // Behind a pointer, since its cache is written when it goes, once.
  return std::make_unique<launch::ScannedCatalogue>(core::PluginLoader::default_directories(),
                                                    launch::find_process_program());
}

launch::Plan plan_from(const LaunchArguments& arguments, launch::ScannedCatalogue& catalogue) {
  try {
    return launch::make_plan(arguments.file, arguments.values, catalogue);
  } catch (const Error& error) {
    // Also a plugin that is not found: for whoever called, the file is what has to be mended.
    throw Error(Code::kInvalidArgument, "{}", error.what());
  }
}

}  // namespace trainyard::tools
