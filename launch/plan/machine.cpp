// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/machine.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace trainyard::launch {
namespace {

/// Returns the size of the machine's memory, or 0 if it is unknown.
std::uint64_t physical_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long bytes = ::sysconf(_SC_PAGESIZE);
  return pages < 1 || bytes < 1 ? 0 : static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes);
}

/// Reads a limit of a control group. Returns 0, which means no limit, if the file contains "max" or cannot be read.
std::uint64_t limit_in(const std::string& path) {
  std::uint64_t limit = 0;
  std::ifstream file(path);
  return file >> limit ? limit : 0;
}

/// Returns the path of this process's control group relative to the mount point, such as "/user.slice/...", or an empty
/// text if there is none.
std::string control_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return "";
}

}  // namespace

// The limits of all enclosing control groups apply, too, so the smallest limit is used.
Machine this_machine() {
  Machine machine{.memory_bytes = physical_memory()};
  const auto obey = [&machine](std::uint64_t limit) {
    if (limit > 0) machine.memory_bytes = std::min(machine.memory_bytes, limit);
  };
  obey(limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  for (std::string group = control_group();; group = group.substr(0, group.rfind('/'))) {
    obey(limit_in("/sys/fs/cgroup" + group + "/memory.max"));
    if (group.empty() || group.find('/') == std::string::npos) break;
  }
  return machine;
}

}  // namespace trainyard::launch
