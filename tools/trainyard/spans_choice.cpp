// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/spans_choice.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace trainyard::tools {

void SpansChoice::add_to(CLI::App& verb) {
  constexpr double kLongest = 86'400;
  verb.add_option("RUN", run, "a launch, or a recording with spans (the newest launch)");
  verb.add_option("--timeout", timeout_s, "seconds to wait for the next training step (30)")
      ->check(CLI::Range(0.001, kLongest));
  verb.add_flag("--json", as_json, "print JSON, for other programs");
}

// A word with a slash or the ending of recordings is a path, because the name of a launch contains neither. An address
// such as tcp://HOST:PORT refers to a run on another host.
std::optional<recordings::McapReader> SpansChoice::recording() const {
  const bool is_address = run.find("tcp://") != std::string::npos;
  const bool is_path =
      run.find('/') != std::string::npos || run.ends_with(".mcap") || std::filesystem::is_regular_file(run);
  if (run.empty() || is_address || !is_path) return {};
  return std::make_optional<recordings::McapReader>(run);
}

}  // namespace trainyard::tools
