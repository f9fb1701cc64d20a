// SPDX-License-Identifier: Apache-2.0
#include "launch/run/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <sstream>

#include "messages/error.h"

extern char** environ;

namespace trainyard::launch {

// Starts a process of the run. The code between fork() and execve() must not allocate memory, so everything is prepared
// before. If this code fails, it reports the error to the parent through a pipe, and the parent throws it.

namespace {

/// Everything that the child needs between fork() and execve(). It is made before fork(), because afterwards the child
/// may make only async-signal-safe calls, since the program can have several threads.
struct Prepared {
  std::string program;
  std::vector<std::string> environment;
  std::vector<char*> arguments_pointers;
  std::vector<char*> environment_pointers;
  const char* directory = nullptr;
  std::span<const int> ignored_signals;
  bool pinned = false;
  cpu_set_t cpus;
  pid_t parent = 0;
  int in = -1;
  int out = -1;
  int err = -1;
  int failure = -1;  ///< A pipe to the parent. A successful execve() closes it; otherwise the child writes errno to it.
};

/// Returns the path of a program, which is searched for in the PATH that the child will have. A name with a '/' is
/// returned unchanged.
std::string find_program(const std::string& name, const std::map<std::string, std::string>& environment) {
  if (name.find('/') != std::string::npos) return name;
  const auto given = environment.find("PATH");
  const char* inherited = std::getenv("PATH");
  std::istringstream path(given != environment.end() ? given->second : inherited ? inherited : "/usr/bin:/bin");
  for (std::string directory; std::getline(path, directory, ':');) {
    const std::string file = (directory.empty() ? "." : directory) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  throw Error(Code::kNotFound, "cannot start '{}': no such program in PATH", name);
}

/// Returns the environment of this process with the variables in `added`, which replace variables of the same name.
std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [name, value] : added) merged.push_back(name + "=" + value);
  return merged;
}

/// Runs in the child: sends errno to the parent through the pipe that a successful exec would have closed.
[[noreturn]] void give_up(const Prepared& prepared) {
  const int reason = errno;
  [[maybe_unused]] const auto written = ::write(prepared.failure, &reason, sizeof reason);
  ::_exit(127);
}

/// Restores the default handling of signals in the child. execve() resets handlers, but the child would inherit the
/// ignored and blocked signals of the launcher.
void reset_signals(std::span<const int> ignored) {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  // If SIGTTOU is not ignored, a process group in the background is stopped when it writes to a terminal with the
  // setting `tostop`.
  ::signal(SIGTTOU, SIG_IGN);
  for (const int signal : ignored) ::signal(signal, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Runs in the child, and makes only async-signal-safe calls.
[[noreturn]] void become(Prepared& prepared) {
  // The group is made before execve(), because the parent may send signals to it as soon as await_exec() has returned.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The kernel sends the death signal only if the parent dies after the call of prctl().
  if (::getppid() != prepared.parent) ::_exit(127);  // The launcher died before this call.
  reset_signals(prepared.ignored_signals);
  if (prepared.pinned && ::sched_setaffinity(0, sizeof prepared.cpus, &prepared.cpus) != 0) give_up(prepared);
  if (prepared.directory != nullptr && ::chdir(prepared.directory) != 0) give_up(prepared);
  if (::dup2(prepared.in, 0) < 0 || ::dup2(prepared.out, 1) < 0 || ::dup2(prepared.err, 2) < 0) give_up(prepared);
  // All other descriptors of this process are closed on exec, except the duplicate of stdout, which the child inherits
  // (Crew).
  ::execve(prepared.program.c_str(), prepared.arguments_pointers.data(), prepared.environment_pointers.data());
  give_up(prepared);
}

/// Returns pointers into `texts`, ended by a null, as execve() requires.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

void prepare(Prepared& prepared, const SpawnOptions& options) {
  if (options.command.empty()) throw Error(Code::kInvalidArgument, "cannot start a process: the command is empty");
  prepared.program = find_program(options.command.front(), options.environment);
  prepared.environment = merged_environment(options.environment);
  prepared.arguments_pointers = pointers(options.command);
  prepared.environment_pointers = pointers(prepared.environment);
  if (!options.directory.empty()) prepared.directory = options.directory.c_str();
  prepared.ignored_signals = options.ignored_signals;
  prepared.pinned = !options.cpus.empty();
  CPU_ZERO(&prepared.cpus);
  for (const std::uint32_t cpu : options.cpus) {
    if (cpu >= CPU_SETSIZE)
      throw Error(Code::kInvalidArgument, "cannot pin to cpu {}: at most {}", cpu, CPU_SETSIZE - 1);
    CPU_SET(cpu, &prepared.cpus);
  }
  prepared.parent = ::getpid();
}

/// Waits until the child has called execve(), and throws if this failed. If it succeeds, the writing end of the pipe is
/// closed because of O_CLOEXEC, and the parent reads the end of the file.
void await_exec(pid_t pid, const SpawnOptions& options, Pipe failure) {
  failure.writer.reset();
  int reason = 0;
  ssize_t got = 0;
  while ((got = ::read(failure.reader.get(), &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  if (got != sizeof reason) return;
  ::waitpid(pid, nullptr, 0);
  const std::string where = options.directory.empty() ? "" : fmt::format(" in '{}'", options.directory);
  throw Error(reason == ENOENT ? Code::kNotFound : Code::kIo, "cannot start '{}'{}: {}", options.command.front(), where,
              std::strerror(reason));
}

/// Returns the descriptor for the stdin of the process. The whole input is written to a pipe before the process reads
/// it, so it must fit into the pipe.
FileDescriptor stdin_with(const std::string& input) {
  if (input.empty()) return FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Pipe pipe = make_pipe();
  const bool fits = input.size() <= 4096;
  if (!fits || ::write(pipe.writer.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) {
    throw Error(Code::kIo, "cannot hand {} bytes to a process", input.size());
  }
  return std::move(pipe.reader);
}

}  // namespace

Spawned spawn(const SpawnOptions& options) {
  Prepared prepared;
  prepare(prepared, options);
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  Pipe failure = make_pipe();
  const FileDescriptor in = stdin_with(options.input);
  prepared.in = in.get();
  prepared.out = out.writer.get();
  prepared.err = err.writer.get();
  prepared.failure = failure.writer.get();
  // fork() is used and not posix_spawn(), because the death signal and the CPU affinity must be set between fork() and
  // execve().
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(Code::kIo, "cannot start '{}': {}", options.command.front(), std::strerror(errno));
  if (pid == 0) become(prepared);
  await_exec(pid, options, std::move(failure));
  ::fcntl(out.reader.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(err.reader.get(), F_SETFL, O_NONBLOCK);
  return {pid, std::move(out.reader), std::move(err.reader)};
}

}  // namespace trainyard::launch
