// SPDX-License-Identifier: Apache-2.0
#include "core/process/start_ticks.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>

namespace trainyard::core {

// The file contains "pid (name) state ..." (proc(5)). The name may contain any character, even parentheses, so its end
// is the last ')'.
std::uint64_t start_ticks(pid_t pid) {
  std::string text;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", pid)), text, '\0');
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  char state = 0;
  fields >> state;
  if (state == 'Z' || state == 'X') return 0;
  constexpr int kFieldsBetweenStateAndStart = 18;
  std::string skipped;
  for (int i = 0; i < kFieldsBetweenStateAndStart; ++i) fields >> skipped;
  std::uint64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

}  // namespace trainyard::core
