// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/watched_command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "messages/error.h"

namespace trainyard::tools::submit {
namespace {

constexpr int kShell = 128;  ///< A shell reports 128 plus the number of the signal that ended a program.

/// Blocks the signals for which run_watched() waits, and returns them. If SIGHUP is ignored, as under nohup, it stays
/// ignored.
sigset_t block_what_is_watched() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD}) ::sigaddset(&set, signal);
  struct sigaction hangup = {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) ::sigaddset(&set, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return set;
}

/// Runs in the child process after fork(), so it may make only async-signal-safe calls. Replaces the child with the
/// program.
[[noreturn]] void become(const std::vector<char*>& arguments, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);  // The parent had already died when prctl() was called.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGTTOU, SIG_IGN);  // The program may write to the terminal even from the background.
  // stdin is /dev/null, because reading from the terminal would stop a program in the background.
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::execvp(arguments.front(), arguments.data());
  constexpr char kFailed[] = "trainyard: cannot start mpirun\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kFailed, sizeof kFailed - 1);
  ::_exit(127);
}

pid_t start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw Error(Code::kIo, "cannot start {}: {}", command.front(), std::strerror(errno));
  if (child == 0) become(arguments, parent);
  return child;
}

}  // namespace

int run_watched(const std::vector<std::string>& command) {
  const sigset_t watched = block_what_is_watched();
  const pid_t child = start(command);
  bool told = false;
  while (true) {
    const int signal = ::sigwaitinfo(&watched, nullptr);
    if (signal == SIGCHLD) {
      int status = 0;
      if (::waitpid(child, &status, WNOHANG) != child) continue;
      return WIFEXITED(status) ? WEXITSTATUS(status) : kShell + WTERMSIG(status);
    }
    const bool impatient = told && (signal == SIGINT || signal == SIGTERM);
    if (signal > 0 && (impatient || !told)) ::kill(child, impatient ? SIGTERM : SIGUSR1);
    if (signal > 0 && !told)
      std::fprintf(stderr, "trainyard: stopping; Ctrl-C once more to end all processes at once\n");
    told = told || signal > 0;
  }
}

}  // namespace trainyard::tools::submit
