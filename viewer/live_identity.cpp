// SPDX-License-Identifier: Apache-2.0
#include "viewer/live_identity.h"

#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

namespace trainyard::viewer {
namespace {

/// Converts the start time of a process from clock ticks since boot to nanoseconds since 1970.
std::int64_t started_ns(std::uint64_t start_ticks) {
  timespec boot{}, real{};
  ::clock_gettime(CLOCK_BOOTTIME, &boot);
  ::clock_gettime(CLOCK_REALTIME, &real);
  const auto ns = [](const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; };
  const std::int64_t tick = 1'000'000'000LL / ::sysconf(_SC_CLK_TCK);
  return ns(real) - ns(boot) + static_cast<std::int64_t>(start_ticks) * tick;
}

/// Returns the absolute path. A relative path is relative to the working directory of the launcher.
std::string absolute(const std::string& directory, pid_t launcher) {
  if (directory.empty() || directory.front() == '/') return directory;
  const std::string path = "/proc/" + std::to_string(launcher) + "/cwd/" + directory;
  char resolved[4096];
  return ::realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

}  // namespace

Identity live_identity(const visitors::RunInfo& info, const nlohmann::json& answer) {
  return {.run = info.run,
          .name = info.name,
          .file = info.file,
          .directory = absolute(answer.value("output_directory", ""), info.pid),
          .source = "live",
          .started_ns = started_ns(info.start_ticks)};
}

}  // namespace trainyard::viewer
