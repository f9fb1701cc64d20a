#pragma once

#include <cstdio>
#include <string_view>

namespace trainyard::launch {

/// Where the launcher prints lines: its own, and those of its processes. On a terminal the logger's progress line may
/// stand in the way; it is wiped first, and the logger draws it again.
class RunConsole {
 public:
  RunConsole();

  /// What a process printed: to stdout, or to stderr if it came from there. Waits while a terminal is stopped.
  void line(std::string_view prefix, std::string_view text, bool to_stderr = false);

  /// The launcher's own words, on stderr.
  void say(std::string_view text) { line("trainyard: ", text, true); }

 private:
  bool terminal_[2];  ///< Whether stdout, stderr are.
};

}  // namespace trainyard::launch
