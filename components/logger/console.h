// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

/// A terminal, pipe or file on which lines are shown. The caller owns the descriptor.
///
/// Writing never blocks during the run, so that training does not stop when a terminal is paused with Ctrl-S or nobody
/// reads a pipe. Text that cannot be written yet is kept in memory, up to `kMaxPending` bytes. Then the oldest lines
/// are dropped, and a line reports how many.
class Console {
 public:
  static constexpr std::size_t kMaxPending = 1 << 20;

  /// `fd` must stay open. `colour` is only stored, for callers that compose lines; see colour().
  Console(int fd, bool colour) : fd_(fd), colour_(colour) {}

  /// Adds a line to the pending text, which write_pending() writes. The line erases the live line (see live()). To show
  /// that again, call write_pending() and then live().
  void line(std::string_view text);

  /// Makes `text` the live line, which stays at the bottom and replaces the previous live line; write_pending() writes
  /// it. If earlier text is still pending, `text` is ignored, because it would be out of date when it is written.
  void live(std::string_view text);

  /// If there is a live line, adds a line feed to the pending text, so that the line is no longer replaced.
  void end_live();

  /// Writes as much pending text as possible, and waits at most `patience` for the rest.
  void write_pending(std::chrono::milliseconds patience = {});

  /// Returns the number of columns of the terminal, or 80 if it is unknown.
  std::size_t width() const;

  bool colour() const { return colour_; }
  /// Returns true if some text has not been written yet.
  bool pending() const { return !pending_.empty(); }

 private:
  // Drops the oldest lines if too much text is pending.
  void make_room();

  int fd_;
  bool colour_;
  bool live_shown_ = false;
  bool broken_ = false;  ///< True after a permanent error, such as a closed pipe; all text is then dropped.
  std::uint64_t dropped_lines_ = 0;
  std::string pending_;
};

/// Returns the file descriptor to which the logger must write: the number in the environment variable
/// TRAINYARD_CONSOLE_FD, or standard output if it is not set. Throws kInvalidArgument if the descriptor is not open.
int console_descriptor();

/// Returns true if `fd` is a terminal that can move its cursor, so that a live line can be drawn.
bool is_live_terminal(int fd);

/// Returns true if is_live_terminal() is true and the environment variable NO_COLOR is not set (https://no-color.org).
bool wants_colour(int fd);

}  // namespace trainyard
