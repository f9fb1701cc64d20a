// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string_view>

namespace trainyard::launch {

/// Prints the lines of the launcher and of its processes. On a terminal it first clears the logger's progress line,
/// which the logger draws again.
class RunConsole {
 public:
  RunConsole();

  /// Prints `prefix` and one line of a process's output, on stdout or stderr. Blocks while the output of the terminal
  /// is suspended (Ctrl-S).
  void line(std::string_view prefix, std::string_view text, bool to_stderr = false);

  /// Prints a message of the launcher on stderr.
  void say(std::string_view text) { line("trainyard: ", text, true); }

 private:
  bool terminal_[2];  ///< Whether stdout and stderr are terminals.
};

}  // namespace trainyard::launch
