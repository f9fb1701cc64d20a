// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/top_screen.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace trainyard::tools {
namespace {

// Escape sequences of ECMA-48, and of xterm's alternate screen, which all current terminals support.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l";
constexpr std::string_view kLeave = "\033[?25h\033[?1049l";
constexpr std::string_view kHome = "\033[H";
constexpr std::string_view kRestOfLine = "\033[K";
constexpr std::string_view kRestOfScreen = "\033[J";

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // The terminal no longer exists; keys() will report this.
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

constexpr std::pair<std::string_view, TopScreen::Key> kKeys[] = {
    {"\033[A", TopScreen::Key::kUp},   {"\033OA", TopScreen::Key::kUp},      {"\033[B", TopScreen::Key::kDown},
    {"\033OB", TopScreen::Key::kDown}, {"\033[5~", TopScreen::Key::kPageUp}, {"\033[6~", TopScreen::Key::kPageDown},
    {"\033[H", TopScreen::Key::kHome}, {"\033[1~", TopScreen::Key::kHome},   {"q", TopScreen::Key::kQuit},
    {"Q", TopScreen::Key::kQuit},      {"s", TopScreen::Key::kSort},         {"p", TopScreen::Key::kProcesses},
    {"k", TopScreen::Key::kUp},        {"j", TopScreen::Key::kDown},         {" ", TopScreen::Key::kPageDown}};

}  // namespace

TopScreen::TopScreen() {
  ::tcgetattr(STDIN_FILENO, &before_);
  enter();
}

TopScreen::~TopScreen() { leave(); }

// Switches the terminal to a mode in which keys arrive one by one and are not echoed. Ctrl-C and Ctrl-Z still send
// signals.
void TopScreen::enter() {
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  write_all(kEnter);
}

void TopScreen::leave() {
  write_all(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

TopScreen::Size TopScreen::size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_row, size.ws_col};
}

// All lines are written at the same time, so that the terminal never shows a partial update. The last line has no line
// break, because that would scroll the screen.
void TopScreen::draw(const std::vector<std::string>& lines) {
  const std::size_t rows = size().rows;
  std::string picture(kHome);
  for (std::size_t i = 0; i < lines.size() && i < rows; ++i) {
    if (i != 0) picture += "\r\n";
    picture += lines[i];
    picture += kRestOfLine;
  }
  picture += kRestOfScreen;
  write_all(picture);
}

std::vector<TopScreen::Key> TopScreen::keys() {
  char bytes[256];
  const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
  std::vector<Key> keys;
  if (count < 0 && errno != EINTR && errno != EAGAIN) keys.push_back(Key::kQuit);
  std::string_view text(bytes, count > 0 ? static_cast<std::size_t>(count) : 0);
  while (!text.empty()) {
    Key key = Key::kNone;
    std::size_t length = 1;
    for (const auto& [sequence, meaning] : kKeys) {
      if (!text.starts_with(sequence)) continue;
      key = meaning;
      length = sequence.size();
    }
    if (key != Key::kNone) keys.push_back(key);
    text.remove_prefix(length);
  }
  return keys;
}

void TopScreen::suspend() {
  leave();
  ::raise(SIGSTOP);
  enter();
}

}  // namespace trainyard::tools
