// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::tools {

/// The whole terminal, for a program that redraws it and reacts to single keys. The destructor restores the previous
/// content. The program must block the signals in signals() and pass those that arrive to this object, so that the
/// terminal can be restored before the program stops or ends.
class TopScreen {
 public:
  /// Takes the terminal over. stdin and stdout must be terminals.
  TopScreen();
  ~TopScreen();
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  struct Size {
    std::size_t rows = 24;
    std::size_t columns = 80;
  };
  /// Returns the current size of the terminal.
  static Size size();

  /// Shows these lines from the top, without scrolling. Lines beyond the last row are left out.
  void draw(const std::vector<std::string>& lines);

  enum class Key { kNone, kQuit, kSort, kProcesses, kUp, kDown, kPageUp, kPageDown, kHome };
  /// Returns the keys that were pressed. Returns kQuit if the terminal is gone.
  std::vector<Key> keys();

  /// Restores the terminal, stops this process as Ctrl-Z does, and uses the terminal again when the process continues.
  void suspend();

 private:
  void enter();
  void leave();

  termios before_{};
};

}  // namespace trainyard::tools
