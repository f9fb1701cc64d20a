// SPDX-License-Identifier: Apache-2.0
#include "launch/run/guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

#include "launch/run/directory_lock.h"
#include "launch/run/process_tree.h"
#include "launch/run/seconds.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

using Clock = std::chrono::steady_clock;

/// The signals that the guard passes on to the launcher. With these, users, sessions and engines end a process that
/// they have started.
constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
constexpr int kInterrupted = 130;  ///< The code that shells report for a program that Ctrl-C has ended.

// The first words of the notes, which the launcher writes to a pipe, one on each line.
constexpr const char* kRemove = "remove";
constexpr const char* kUnlock = "unlock";
constexpr const char* kPatience = "patience_ms";
constexpr const char* kExit = "exit";

/// How long the launcher may be stopped by a signal before it has called set_patience().
constexpr std::chrono::milliseconds kPatienceUntold{60'000};

void say(const std::string& text) { std::fprintf(stderr, "trainyard: %s\n", text.c_str()); }

/// Blocks the signals for which the guard waits, and returns them. Signals that the guard inherits as ignored are
/// handled nevertheless, such as SIGINT in a background job of a shell. There are two exceptions: SIGHUP remains
/// ignored after nohup, and SIGTSTP in a shell without job control.
sigset_t block_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  const auto add = [&set](int signal, bool may_be_ignored) {
    struct sigaction now = {};
    ::sigaction(signal, nullptr, &now);
    if (may_be_ignored && now.sa_handler == SIG_IGN) return;
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(signal, &standard, nullptr);
    ::sigaddset(&set, signal);
  };
  for (const int signal : kPassedOn) add(signal, signal == SIGHUP);
  add(SIGTSTP, true);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return set;
}

/// The notes that the launcher has written for the guard.
class Notes {
 public:
  /// `pipe` is the reading end of the pipe for the notes.
  explicit Notes(int pipe) : pipe_(pipe) {
    // Reading must not block: children of the launcher can keep the other end open for a moment after the launcher has
    // died.
    ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
  }

  /// Returns the texts after `word` in all notes that begin with it.
  std::vector<std::string> of(const std::string& word) {
    char part[1024];
    ssize_t got = 0;
    while ((got = ::read(pipe_, part, sizeof part)) > 0) text_.append(part, static_cast<std::size_t>(got));
    std::vector<std::string> found;
    std::istringstream lines(text_);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(word + " ")) found.push_back(line.substr(word.size() + 1));
    }
    return found;
  }

  /// Returns how long the launcher may be stopped by a signal before the guard ends the run, or an empty optional if
  /// there is no limit.
  std::optional<std::chrono::milliseconds> patience() {
    const std::vector<std::string> told = of(kPatience);
    const long long milliseconds = told.empty() ? kPatienceUntold.count() : std::atoll(told.back().c_str());
    if (milliseconds <= 0) return std::nullopt;
    return std::chrono::milliseconds(milliseconds);
  }

 private:
  int pipe_;
  std::string text_;
};

/// The work of the guard: waits for signals, and reacts to them, until the launcher has ended.
class Watch {
 public:
  Watch(pid_t launcher, const sigset_t& signals, int notes) : launcher_(launcher), signals_(signals), notes_(notes) {}

  /// Returns the exit code of the command.
  int run() {
    while (!exit_code_) {
      const int signal = wait();
      if (signal == SIGCHLD) {
        reap();
      } else if (signal == SIGTSTP) {
        suspend();
      } else if (signal > 0) {
        pass_on(signal);
      } else {
        look_at_clock();
      }
    }
    return *exit_code_;
  }

 private:
  // Returns the next signal. While the launcher is stopped, returns -1 after 0.1 s without a signal, so that the time
  // can be checked.
  int wait() const {
    siginfo_t info = {};
    if (!stopped_) return ::sigwaitinfo(&signals_, &info);
    constexpr timespec kLook{0, 100'000'000};
    return ::sigtimedwait(&signals_, &info, &kLook);
  }

  // Passes a signal on to the launcher, which decides what to do. SIGCONT is sent as well, because a launcher that was
  // stopped could not react.
  void pass_on(int signal) const {
    ::kill(launcher_, signal);
    if (stopped_) ::kill(launcher_, SIGCONT);
  }

  void reap() {
    int status = 0;
    pid_t child = 0;
    while ((child = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
      if (child != launcher_) continue;  // This is an orphan that ended shortly after the launcher.
      if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) exit_code_ = clean_up_after(WTERMSIG(status));
      if (WIFSTOPPED(status)) stopped(WSTOPSIG(status));
      if (WIFCONTINUED(status)) continued();
    }
  }

  void stopped(int signal) {
    if (stopped_) return;
    stopped_ = Clock::now();
    // The run has ended, and the launcher has reported its exit code. The command need not wait until the stopped
    // launcher exits.
    if (!notes_.of(kExit).empty()) return kill_launcher();
    const auto patience = notes_.patience();
    const std::string end = patience ? fmt::format(", and the run ends in {} s", in_seconds(*patience)) : "";
    say(
        fmt::format("the launcher (process {}) was stopped by signal {} ({}); nobody watches over the run until `kill "
                    "-CONT {}`{}",
                    launcher_, signal, ::strsignal(signal), launcher_, end));
  }

  void continued() {
    if (stopped_) say(fmt::format("the launcher (process {}) continues", launcher_));
    stopped_.reset();
  }

  void look_at_clock() {
    const auto patience = notes_.patience();
    if (!stopped_ || !patience || Clock::now() - *stopped_ < *patience || lost_patience_) return;
    kill_launcher();
  }

  void kill_launcher() {
    lost_patience_ = true;
    ::kill(launcher_, SIGKILL);
  }

  // Stops the launcher and its descendants, then the guard itself, and continues all of them when the guard is
  // continued. The launcher is stopped first and continued last, so that it does not notice that its processes are
  // stopped.
  void suspend() {
    const std::vector<pid_t> all = stop_descendants();
    const auto since = Clock::now();
    stop_myself();
    if (stopped_) *stopped_ += Clock::now() - since;
    for (auto pid = all.rbegin(); pid != all.rend(); ++pid) ::kill(*pid, SIGCONT);
  }

  // Stops the guard, and returns when it is continued. If there is no shell that could continue the guard, the kernel
  // does not stop it.
  static void stop_myself() {
    sigset_t stop;
    ::sigemptyset(&stop);
    ::sigaddset(&stop, SIGTSTP);
    ::raise(SIGTSTP);  // The signal is blocked and takes effect when the next line unblocks it.
    ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
    ::sigprocmask(SIG_BLOCK, &stop, nullptr);
  }

  // Cleans up after a launcher that was ended by a signal, and returns the exit code. While the launcher is still
  // planning, a signal that the guard has passed on ends it in this way, which is not an error.
  int clean_up_after(int signal) {
    // The processes of the run are children of the guard now, because the guard is their sub-reaper.
    const std::size_t killed = kill_descendants();
    // An announced directory may not exist yet, so errors are ignored.
    for (const std::string& directory : notes_.of(kRemove)) {
      std::error_code ignored;
      std::filesystem::remove_all(directory, ignored);
    }
    for (const std::string& file : notes_.of(kUnlock)) remove_stale_lock(file);
    if (std::ranges::find(kPassedOn, signal) != std::end(kPassedOn)) return kInterrupted;
    // The run had already ended, and the launcher has printed the result.
    if (const std::vector<std::string> code = notes_.of(kExit); !code.empty()) return std::atoi(code.back().c_str());
    if (lost_patience_) {
      say(
          fmt::format("run failed: the launcher (process {}) was stopped by a signal and did not continue; it and its "
                      "{} processes were ended",
                      launcher_, killed));
    } else {
      say(fmt::format("run failed: the launcher was killed by signal {} ({}); its {} processes were ended", signal,
                      ::strsignal(signal), killed));
    }
    return 1;
  }

  pid_t launcher_;
  sigset_t signals_;
  Notes notes_;
  std::optional<Clock::time_point> stopped_;  ///< When a signal stopped the launcher; empty if it is not stopped.
  bool lost_patience_ = false;
  std::optional<int> exit_code_;
};

}  // namespace

void GuardLink::note(const std::string& word, const std::string& text) const {
  const std::string line = word + " " + text + "\n";
  if (notes_) [[maybe_unused]]
    const auto written = ::write(notes_.get(), line.data(), line.size());
}

void GuardLink::will_make(const std::string& directory) const { note(kRemove, directory); }

void GuardLink::will_lock(const std::string& file) const { note(kUnlock, file); }

void GuardLink::set_patience(std::chrono::milliseconds patience) const {
  note(kPatience, std::to_string(patience.count()));
}

void GuardLink::will_exit(int code) const { note(kExit, std::to_string(code)); }

pid_t GuardLink::pid() const { return notes_ ? ::getppid() : 0; }

int run_guarded(const std::function<int(const GuardLink&)>& launcher) {
  // There are two pipes. The launcher detects by the end of `alive` that the guard has died. The guard reads the
  // launcher's notes from `notes`.
  Pipe alive = make_pipe();
  Pipe notes = make_pipe();
  const sigset_t signals = block_signals();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t child = ::fork();
  if (child < 0) throw Error(Code::kIo, "cannot start the launcher: {}", std::strerror(errno));
  if (child != 0) {
    alive.reader.reset();
    notes.writer.reset();
    return Watch(child, signals, notes.reader.get()).run();
  }
  alive.writer.reset();
  notes.reader.reset();
  // From here on, this process is the launcher. It gets its own process group, so that it receives the signal of Ctrl-C
  // only once, from the guard.
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Until the supervisor blocks these signals, they end the launcher immediately, because there is nothing to stop
  // cleanly yet.
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // Writing a note to a dead guard must not kill the launcher.
  const int code = launcher(GuardLink(std::move(alive.reader), std::move(notes.writer)));
  // If a signal has stopped the guard, it is continued. Otherwise the command would not end.
  if (state_of(::getppid()) == 'T') ::kill(::getppid(), SIGCONT);
  return code;
}

}  // namespace trainyard::launch
