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

// Starts a process of the run. The code between fork and exec must not allocate memory, so everything is prepared
// before. An error there is reported to the parent through a pipe and thrown in the parent.

namespace {

/// Everything that the child needs between fork and exec. It is made before the fork, because afterwards, in a program
/// with threads, only async-signal-safe calls are allowed, and memory must not be allocated.
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
  int failure = -1;  ///< A successful exec closes it; otherwise the child writes errno to it.
};

/// Looks the program up before the fork, in the PATH that the child will have. A name with a '/' is used unchanged.
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

/// Returns our own environment, in which the variables of `added` replace those of the same name.
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

/// Handlers are reset by exec, but ignored and blocked signals are inherited, and the launcher has both.
void reset_signals(std::span<const int> ignored) {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  // A process group in the background that draws on a terminal with `stty tostop` would be stopped for it.
  ::signal(SIGTTOU, SIG_IGN);
  for (const int signal : ignored) ::signal(signal, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Runs in the child; async-signal-safe calls only.
[[noreturn]] void become(Prepared& prepared) {
  // This comes before exec, because the parent may send signals to the group as soon as await_exec() returns.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The death signal is sent only if the parent dies from now on, not if it is dead already.
  if (::getppid() != prepared.parent) ::_exit(127);  // The launcher died before the line above took hold.
  reset_signals(prepared.ignored_signals);
  if (prepared.pinned && ::sched_setaffinity(0, sizeof prepared.cpus, &prepared.cpus) != 0) give_up(prepared);
  if (prepared.directory != nullptr && ::chdir(prepared.directory) != 0) give_up(prepared);
  if (::dup2(prepared.in, 0) < 0 || ::dup2(prepared.out, 1) < 0 || ::dup2(prepared.err, 2) < 0) give_up(prepared);
  // Every other descriptor of ours is closed on exec, except that of the console, which is meant to be inherited.
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

/// Waits for the exec, and throws if it failed. The end of the file means that the exec succeeded, because O_CLOEXEC
/// closed the writing end.
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

/// Opens what the process reads as its stdin. The input lies in the pipe before anybody reads, so it must fit.
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
  // This uses fork, not posix_spawn, because process group, death signal, affinity and directory are set between fork
  // and exec.
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(Code::kIo, "cannot start '{}': {}", options.command.front(), std::strerror(errno));
  if (pid == 0) become(prepared);
  await_exec(pid, options, std::move(failure));
  ::fcntl(out.reader.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(err.reader.get(), F_SETFL, O_NONBLOCK);
  return {pid, std::move(out.reader), std::move(err.reader)};
}

}  // namespace trainyard::launch
