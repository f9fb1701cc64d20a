// SPDX-License-Identifier: Apache-2.0
#include "launch/run/guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "launch/run/process_tree.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

/// What a user or a session sends to the process that he started.
constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kInterrupted = 130;  ///< What shells return for a program that Ctrl-C has ended.

/// Blocks what the guard waits for. A background job of a shell starts with SIGINT ignored; a launch can be interrupted
/// all the same. Only nohup's wish is respected.
sigset_t block_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (const int signal : kPassedOn) {
    struct sigaction now = {};
    ::sigaction(signal, nullptr, &now);
    if (signal == SIGHUP && now.sa_handler == SIG_IGN) continue;
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(signal, &standard, nullptr);
    ::sigaddset(&set, signal);
  }
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return set;
}

/// The directories that the launcher has announced, one a line.
std::string read_notes(int notes) {
  // The launcher is dead, but its children may hold the other end for a moment: do not wait for the end of the file.
  ::fcntl(notes, F_SETFL, O_NONBLOCK);
  std::string text;
  char part[1024];
  ssize_t got = 0;
  while ((got = ::read(notes, part, sizeof part)) > 0) text.append(part, static_cast<std::size_t>(got));
  return text;
}

/// The launcher is dead by a signal: nobody else will clean up. While it still plans, a signal that we passed on ends
/// it like that, and that is all right.
int clean_up_after(int signal, int notes) {
  // They are ours now: we are the sub-reaper that inherits them.
  const std::size_t killed = kill_descendants();
  std::istringstream directories(read_notes(notes));
  // What was announced may not have been made yet; removing nothing is fine.
  for (std::string directory; std::getline(directories, directory);) {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
  if (std::ranges::find(kPassedOn, signal) != std::end(kPassedOn)) return kInterrupted;
  std::fprintf(stderr, "trainyard: the launcher was killed by signal %d (%s); its %zu processes were ended\n", signal,
               ::strsignal(signal), killed);
  return 1;
}

int guard(pid_t launcher, const sigset_t& signals, int notes) {
  for (;;) {
    siginfo_t info = {};
    const int signal = ::sigwaitinfo(&signals, &info);
    if (signal != SIGCHLD) {
      // Whatever it is, the launcher decides what it means; the guard goes only after it.
      if (signal > 0) ::kill(launcher, signal);
      continue;
    }
    int status = 0;
    pid_t child = 0;
    while ((child = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (child != launcher) continue;  // An orphan that outlived a dying launcher by a moment.
      if (WIFEXITED(status)) return WEXITSTATUS(status);
      if (WIFSIGNALED(status)) return clean_up_after(WTERMSIG(status), notes);
    }
  }
}

}  // namespace

void GuardLink::will_make(const std::string& directory) const {
  const std::string line = directory + "\n";
  if (notes_) [[maybe_unused]]
    const auto written = ::write(notes_.get(), line.data(), line.size());
}

int run_guarded(const std::function<int(const GuardLink&)>& launcher) {
  // Two pipes: the launcher reads `alive`, which ends with the guard; the guard reads `notes`, what it may have to
  // remove.
  Pipe alive = make_pipe();
  Pipe notes = make_pipe();
  const sigset_t signals = block_signals();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t child = ::fork();
  if (child < 0) throw Error(Code::kIo, "cannot start the launcher: {}", std::strerror(errno));
  if (child != 0) {
    alive.reader.reset();
    notes.writer.reset();
    return guard(child, signals, notes.reader.get());
  }
  alive.writer.reset();
  notes.reader.reset();
  // From here on: the launcher. A group of its own, so that Ctrl-C comes once, by way of the guard.
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);  // Until it has something to stop in order, it may just die of them.
  return launcher(GuardLink(std::move(alive.reader), std::move(notes.writer)));
}

}  // namespace trainyard::launch
