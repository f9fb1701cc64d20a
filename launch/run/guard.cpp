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

/// The signals by which a user, a session or an engine ends the process that it started.
constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
constexpr int kInterrupted = 130;  ///< The code that shells report for a program that Ctrl-C has ended.

// The words of the notes, which the launcher writes one a line.
constexpr const char* kRemove = "remove";
constexpr const char* kUnlock = "unlock";
constexpr const char* kPatience = "patience_ms";
constexpr const char* kExit = "exit";

/// How long the launcher can be stopped while it still plans, before it has told the guard how long it can be stopped.
constexpr std::chrono::milliseconds kPatienceUntold{60'000};

void say(const std::string& text) { std::fprintf(stderr, "trainyard: %s\n", text.c_str()); }

/// Blocks what the guard waits for. A background job of a shell starts with SIGINT ignored; a launch can be interrupted
/// all the same. Only nohup's wish is respected, and that of a shell without job control.
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

/// What the launcher has told the guard so far.
class Notes {
 public:
  /// `pipe` is where the notes come from.
  explicit Notes(int pipe) : pipe_(pipe) {
    // The launcher's children may hold the other end for a moment after its death, so nobody waits for its end.
    ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
  }

  /// Returns what stands behind `word` in all notes so far.
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

  /// Returns how long the launcher can be stopped before the run ends; nothing if it can be stopped without limit.
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

/// The life of the guard: it waits for signals until the launcher has ended.
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
  // Returns the next signal, or -1 when it may be time to lose patience.
  int wait() const {
    siginfo_t info = {};
    if (!stopped_) return ::sigwaitinfo(&signals_, &info);
    constexpr timespec kLook{0, 100'000'000};
    return ::sigtimedwait(&signals_, &info, &kLook);
  }

  // Whatever it is, the launcher decides what it means; the guard goes only after it. One that was stopped could not
  // decide anything.
  void pass_on(int signal) const {
    ::kill(launcher_, signal);
    if (stopped_) ::kill(launcher_, SIGCONT);
  }

  void reap() {
    int status = 0;
    pid_t child = 0;
    while ((child = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
      if (child != launcher_) continue;  // An orphan that outlived a dying launcher by a moment.
      if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) exit_code_ = clean_up_after(WTERMSIG(status));
      if (WIFSTOPPED(status)) stopped(WSTOPSIG(status));
      if (WIFCONTINUED(status)) continued();
    }
  }

  void stopped(int signal) {
    if (stopped_) return;
    stopped_ = Clock::now();
    // The run has ended and the launcher has reported how. Only its own exit is missing, and nobody may wait for that.
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

  // The launcher is stopped first, so that it does not take the stop of its processes for an accident, and continued
  // last for the same reason.
  void suspend() {
    const std::vector<pid_t> all = stop_descendants();
    const auto since = Clock::now();
    stop_myself();
    if (stopped_) *stopped_ += Clock::now() - since;
    for (auto pid = all.rbegin(); pid != all.rend(); ++pid) ::kill(*pid, SIGCONT);
  }

  // Returns when the guard is continued. If no shell could continue it, the kernel does not stop it.
  static void stop_myself() {
    sigset_t stop;
    ::sigemptyset(&stop);
    ::sigaddset(&stop, SIGTSTP);
    ::raise(SIGTSTP);  // It is blocked, and comes with the next line.
    ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
    ::sigprocmask(SIG_BLOCK, &stop, nullptr);
  }

  // The launcher is dead by a signal: nobody else will clean up. While it still plans, a signal that was passed on ends
  // it like that, and that is all right.
  int clean_up_after(int signal) {
    // They are ours now, because the guard is the sub-reaper that inherits them.
    const std::size_t killed = kill_descendants();
    // What was announced may not have been made yet; removing nothing is fine.
    for (const std::string& directory : notes_.of(kRemove)) {
      std::error_code ignored;
      std::filesystem::remove_all(directory, ignored);
    }
    for (const std::string& file : notes_.of(kUnlock)) remove_stale_lock(file);
    if (std::ranges::find(kPassedOn, signal) != std::end(kPassedOn)) return kInterrupted;
    // The run had ended in full, and its last words are said.
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
  std::optional<Clock::time_point> stopped_;  ///< When the launcher was stopped, if it is.
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
  // There are two pipes: the launcher reads `alive`, which ends with the guard; the guard reads from `notes` which
  // directories it may have to remove.
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
  // From here on, this is the launcher. It gets a group of its own, so that Ctrl-C arrives once, through the guard.
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Until there is something to stop in order, the launcher may simply be killed by them.
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // Notes for a guard that is dead must not end the launcher without a word.
  const int code = launcher(GuardLink(std::move(alive.reader), std::move(notes.writer)));
  // A guard that a signal has stopped has nothing left to guard, and would leave the command without an end.
  if (state_of(::getppid()) == 'T') ::kill(::getppid(), SIGCONT);
  return code;
}

}  // namespace trainyard::launch
