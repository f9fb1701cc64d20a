// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

/// An output for lines: a terminal, a pipe or a file. The caller owns the descriptor.
///
/// The console does not block during the run, because training must not stop when a terminal is paused. Text that
/// cannot be written yet (because of Ctrl-S on a terminal, or a pipe that is not read) is kept in memory, up to
/// `kMaxPending` bytes. Beyond that the oldest lines are dropped, and a line reports how many were dropped.
class Console {
 public:
  static constexpr std::size_t kMaxPending = 1 << 20;

  /// `fd` must stay open. The console does not use `colour`; it only stores it for the code that composes the lines.
  Console(int fd, bool colour) : fd_(fd), colour_(colour) {}

  /// Shows a line. This clears the live line, so that live() must be called again.
  void line(std::string_view text);

  /// Shows `text` as the live line, in place of the previous live line. Does nothing while earlier text waits to be
  /// written.
  void live(std::string_view text);

  /// Ends the live line with a line feed, so that it stays readable.
  void end_live();

  /// Writes as much pending text as possible, and waits at most `patience` for the rest.
  void write_pending(std::chrono::milliseconds patience = {});

  /// Returns the number of columns of the terminal, or 80 if it is unknown.
  std::size_t width() const;

  bool colour() const { return colour_; }
  /// Returns true while some text could not be written yet.
  bool pending() const { return !pending_.empty(); }

 private:
  // Drops the oldest lines when too much text is pending.
  void make_room();

  int fd_;
  bool colour_;
  bool live_shown_ = false;
  bool broken_ = false;  ///< True if writing has failed; the run continues without a console.
  std::uint64_t dropped_lines_ = 0;
  std::string pending_;
};

/// Returns the descriptor in TRAINYARD_CONSOLE_FD if it is set, otherwise standard output. Throws kInvalidArgument if
/// the descriptor is not open.
int console_descriptor();

/// Returns true for a terminal that can move its cursor.
bool is_live_terminal(int fd);

/// Returns true for a terminal whose user has not set NO_COLOR (https://no-color.org).
bool wants_colour(int fd);

}  // namespace trainyard
