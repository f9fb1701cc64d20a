// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/versions.h"

#include <fstream>

namespace trainyard::tools {
namespace {

/// Returns the name of the operating system from /etc/os-release (PRETTY_NAME), such as "Debian GNU/Linux 12
/// (bookworm)", or "unknown".
std::string system_name() {
  constexpr std::string_view kKey = "PRETTY_NAME=";
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kKey)) continue;
    line.erase(0, kKey.size());
    std::erase(line, '"');
    return line;
  }
  return "unknown";
}

}  // namespace

archive::Versions installed_versions() {
  return {TRAINYARD_VERSION, TRAINYARD_HOST_TORCH_VERSION, TRAINYARD_COMPILER, system_name()};
}

}  // namespace trainyard::tools
