#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

/// The place where lines are shown: a terminal, a pipe or a file, given as a descriptor that somebody else owns.
///
/// Never blocks: what the reader does not take (a terminal stopped with Ctrl-S, a pipe nobody reads) waits in memory up
/// to `kMaxPending` bytes; beyond, the oldest lines go, and a line says how many. Training must not stop because
/// somebody paused a terminal.
class Console {
 public:
  static constexpr std::size_t kMaxPending = 1 << 20;

  /// `fd` must stay open. `colour` is only remembered, for those who make the lines.
  Console(int fd, bool colour) : fd_(fd), colour_(colour) {}

  /// A line of its own; a live line is cleared first and has to be shown again.
  void line(std::string_view text);

  /// Draws over the last live line, or does nothing while the reader is behind.
  void live(std::string_view text);

  /// Ends the live line, which stays to be read, with a line feed.
  void end_live();

  /// Writes what the reader takes; waits at most `patience` for it to take the rest.
  void write_pending(std::chrono::milliseconds patience = {});

  /// Columns of the terminal; 80 if it does not say.
  std::size_t width() const;

  bool colour() const { return colour_; }
  /// True while the reader is behind.
  bool pending() const { return !pending_.empty(); }

 private:
  // Gives up the oldest lines when too much waits.
  void make_room();

  int fd_;
  bool colour_;
  bool live_shown_ = false;
  bool broken_ = false;  ///< The reader is gone; the run goes on without it.
  std::uint64_t dropped_lines_ = 0;
  std::string pending_;
};

/// TRAINYARD_CONSOLE_FD if it is set, else standard output. Throws kInvalidArgument if it is no open descriptor.
int console_descriptor();

/// True for a terminal that can move its cursor.
bool is_live_terminal(int fd);

/// True for a terminal whose user did not set NO_COLOR (https://no-color.org).
bool wants_colour(int fd);

}  // namespace trainyard
