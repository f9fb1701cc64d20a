// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string_view>

namespace trainyard::launch {

/// The output of a run: the messages of the launcher, and the lines that its processes print. On a terminal, each line
/// replaces the logger's progress line, which the logger then draws again.
class RunConsole {
 public:
  RunConsole();

  /// Prints `prefix` and `text` as one line, on stderr if `to_stderr` is true and otherwise on stdout. Blocks while the
  /// output of the terminal is suspended (Ctrl-S).
  void line(std::string_view prefix, std::string_view text, bool to_stderr = false);

  /// Prints a message of the launcher on stderr.
  void say(std::string_view text) { line("trainyard: ", text, true); }

 private:
  bool terminal_[2];  ///< True for each of stdout and stderr that is a terminal.
};

}  // namespace trainyard::launch
