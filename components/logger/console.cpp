// SPDX-License-Identifier: Apache-2.0
#include "components/logger/console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "messages/error.h"

namespace trainyard {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";

/// The number of bytes that a pipe accepts without blocking if poll() reports it as writable (in POSIX, PIPE_BUF is at
/// least 512).
constexpr std::size_t kChunk = 512;

}  // namespace

void Console::line(std::string_view text) {
  make_room();
  // When all pending text has been written, reports the dropped lines before newer text.
  if (dropped_lines_ > 0 && pending_.empty()) {
    pending_ += fmt::format("({} lines were not shown: nobody read them)\n", dropped_lines_);
    dropped_lines_ = 0;
  }
  if (live_shown_) pending_ += kClearLine;
  live_shown_ = false;
  pending_.append(text).append(1, '\n');
}

void Console::live(std::string_view text) {
  if (pending()) return;
  pending_.append(kClearLine).append(text);
  live_shown_ = true;
}

void Console::end_live() {
  if (live_shown_) pending_ += '\n';
  live_shown_ = false;
}

void Console::make_room() {
  if (pending_.size() < kMaxPending) return;
  // Drops a quarter of the text at a time, because erasing copies the rest.
  const std::size_t cut = pending_.find('\n', kMaxPending / 4) + 1;
  dropped_lines_ += static_cast<std::uint64_t>(
      std::count(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(cut), '\n'));
  pending_.erase(0, cut);
}

void Console::write_pending(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::size_t done = 0;
  while (done < pending_.size() && !broken_) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    // Checks before each write that it will not block. The descriptor must not be made non-blocking, because other
    // processes share it, and their writes could then fail.
    pollfd wait{fd_, POLLOUT, 0};
    if (::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) == 0) break;
    // Must be checked before the write, which would otherwise raise SIGPIPE.
    if ((wait.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
      broken_ = true;
      break;
    }
    const ssize_t count = ::write(fd_, pending_.data() + done, std::min(kChunk, pending_.size() - done));
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN && left.count() <= 0) {
      break;
    } else if (errno != EINTR && errno != EAGAIN) {
      broken_ = true;
    }
  }
  pending_.erase(0, broken_ ? std::string::npos : done);
}

// Asks the terminal each time, because its window can be resized during the run.
std::size_t Console::width() const {
  winsize size{};
  if (::ioctl(fd_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// The standard output of a process of the run is a pipe to the launcher. The launcher passes the descriptor of the
// terminal in the environment variable.
int console_descriptor() {
  const char* text = std::getenv("TRAINYARD_CONSOLE_FD");
  if (text == nullptr || *text == '\0') return STDOUT_FILENO;
  const std::string_view given = text;
  int fd = -1;
  const auto end = std::from_chars(given.data(), given.data() + given.size(), fd);
  if (end.ec != std::errc{} || end.ptr != given.data() + given.size() || ::fcntl(fd, F_GETFD) < 0) {
    throw Error(Code::kInvalidArgument, "TRAINYARD_CONSOLE_FD is '{}'; allowed is the number of an open descriptor",
                given);
  }
  return fd;
}

bool is_live_terminal(int fd) {
  const char* kind = std::getenv("TERM");
  return ::isatty(fd) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

bool wants_colour(int fd) {
  const char* refused = std::getenv("NO_COLOR");
  return is_live_terminal(fd) && (refused == nullptr || *refused == '\0');
}

}  // namespace trainyard
