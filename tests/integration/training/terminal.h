// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "launch/run/process_tree.h"

namespace trainyard::testing {

/// A pseudo-terminal in which an interactive shell runs.
class Terminal {
 public:
  explicit Terminal(const std::string& directory, unsigned short rows = 24, unsigned short columns = 80) {
    winsize size{rows, columns, 0, 0};
    shell_ = ::forkpty(&file_, nullptr, nullptr, &size);
    if (shell_ == 0) {
      ::setenv("PS1", "$ ", 1);
      if (::chdir(directory.c_str()) == 0) ::execlp("bash", "bash", "--norc", "--noprofile", "-i", nullptr);
      ::_exit(127);
    }
    ::fcntl(file_, F_SETFL, O_NONBLOCK);
  }
  ~Terminal() {
    const std::vector<pid_t> below = launch::descendants(shell_);
    close();
    for (const pid_t pid : below) ::kill(pid, SIGKILL);
    ::kill(shell_, SIGKILL);
    ::waitpid(shell_, nullptr, 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  pid_t shell() const { return shell_; }

  /// Sends the text to the shell as if a user had typed it.
  void type(const std::string& text) const {
    ASSERT_EQ(::write(file_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  /// Returns true if the terminal has shown `text` since it was opened or since the last call of forget().
  bool shows(const std::string& text) {
    char part[4096];
    ssize_t got = 0;
    while ((got = ::read(file_, part, sizeof part)) > 0) shown_.append(part, static_cast<std::size_t>(got));
    return shown_.find(text) != std::string::npos;
  }
  const std::string& shown() const { return shown_; }
  /// Forgets what has been shown so far.
  void forget() {
    shows("");
    shown_.clear();
  }

  /// Changes the size of the terminal window.
  void resize(unsigned short rows, unsigned short columns) const {
    const winsize size{rows, columns, 0, 0};
    ::ioctl(file_, TIOCSWINSZ, &size);
  }

  /// Closes the terminal, as when a user closes its window.
  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }

 private:
  int file_ = -1;
  pid_t shell_ = 0;
  std::string shown_;
};

}  // namespace trainyard::testing
