#pragma once

#include <cstdio>
#include <string_view>

namespace trainyard::launch {

/// Where the launcher prints lines: its own and those of its processes. On a terminal the logger's progress line may be
/// in the way; it is cleared first, and the logger draws it again.
class RunConsole {
 public:
  RunConsole();

  /// Prints what a process printed: on stderr if it came from there, otherwise on stdout. It waits while a terminal is
  /// stopped.
  void line(std::string_view prefix, std::string_view text, bool to_stderr = false);

  /// Prints the launcher's own words on stderr.
  void say(std::string_view text) { line("trainyard: ", text, true); }

 private:
  bool terminal_[2];  ///< Whether stdout and stderr are terminals.
};

}  // namespace trainyard::launch
