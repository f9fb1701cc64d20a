// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/versions.h"

#include <fstream>

namespace trainyard::tools {
namespace {

/// Returns PRETTY_NAME of /etc/os-release, such as "Debian GNU/Linux 12 (bookworm)"; "unknown" if there is none.
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
