// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::tools {

/// The whole terminal, for a program that redraws it and reacts to single keys. The destructor restores what was there.
/// The program must block the signals in signals() and pass those that arrive to it, because only then can it leave the
/// terminal in order before it stops or ends.
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
  /// Returns the present size of the terminal.
  static Size size();

  /// Shows these lines from the top, without scrolling. Lines beyond the last row are left out.
  void draw(const std::vector<std::string>& lines);

  enum class Key { kNone, kQuit, kSort, kProcesses, kUp, kDown, kPageUp, kPageDown, kHome };
  /// Returns the keys that were pressed. Returns kQuit if the terminal is gone.
  std::vector<Key> keys();

  /// Gives the terminal back, stops this process as Ctrl-Z does, and takes the terminal over again when the process
  /// continues.
  void suspend();

 private:
  void enter();
  void leave();

  termios before_{};
};

}  // namespace trainyard::tools
