// SPDX-License-Identifier: Apache-2.0
#include "launch/run/run_console.h"

#include <unistd.h>

#include <string>

namespace trainyard::launch {

RunConsole::RunConsole() : terminal_{::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1} {}

void RunConsole::line(std::string_view prefix, std::string_view text, bool to_stderr) {
  // This sequence moves the cursor to the first column and clears the line (ECMA-48).
  std::string whole = terminal_[to_stderr] ? "\r\033[K" : "";
  whole.append(prefix).append(text).append("\n");
  // The line is written by one call of write(), so that lines of several processes do not mix. If the reader has gone,
  // the error is ignored and the run continues.
  std::string_view rest = whole;
  while (!rest.empty()) {
    const ssize_t wrote = ::write(to_stderr ? STDERR_FILENO : STDOUT_FILENO, rest.data(), rest.size());
    if (wrote <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

}  // namespace trainyard::launch
