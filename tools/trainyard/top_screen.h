// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::tools {

/// Takes over the whole terminal for a program that redraws the screen and reacts to individual keys. The destructor
/// restores the terminal. A program that uses this class must block the signals that would end or suspend the program,
/// and handle them itself. Otherwise such a signal would leave the terminal in the wrong state.
class TopScreen {
 public:
  /// Takes over the terminal. stdin and stdout must be terminals; the caller must check this.
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

  /// Draws these lines from the top of the terminal, without scrolling. Lines beyond the last row are left out.
  void draw(const std::vector<std::string>& lines);

  enum class Key { kNone, kQuit, kSort, kProcesses, kUp, kDown, kPageUp, kPageDown, kHome };
  /// Returns the keys that were pressed since the last call. The result contains kQuit if the terminal no longer
  /// exists.
  std::vector<Key> keys();

  /// Restores the terminal, suspends this process as Ctrl-Z does, and takes over the terminal again when the process
  /// continues.
  void suspend();

 private:
  void enter();
  void leave();

  termios before_{};
};

}  // namespace trainyard::tools
