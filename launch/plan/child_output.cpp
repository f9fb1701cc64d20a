// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/child_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "messages/error.h"

extern char** environ;

namespace trainyard::launch {

// This file is for helper programs that print something and end. They need a deadline, but no process group, death
// signal or restart. The processes of a run are started with launch/run/spawn.h.

namespace {

using Clock = std::chrono::steady_clock;

/// A pipe whose ends are closed on exec. The ends that the child needs are duplicated to its standard output and
/// standard error.
struct OutputPipe {
  std::array<int, 2> ends{-1, -1};
  OutputPipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(Code::kIo, "cannot make a pipe: {}", std::strerror(errno));
  }
  ~OutputPipe() {
    close_writer();
    ::close(ends[0]);
  }
  void close_writer() {
    if (ends[1] >= 0) ::close(std::exchange(ends[1], -1));
  }
};

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

/// Returns pointers into `texts`, ended by a null, as posix_spawn() requires.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// Uses posix_spawn() and not fork(), because this process may have threads and use much memory.
pid_t start(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
            const OutputPipe& out, const OutputPipe& err) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // The standard input is empty, so that the program neither waits for the user nor reads input that is meant for this
  // process.
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
  const std::vector<std::string> variables = merged_environment(environment);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, command.at(0).c_str(), &actions, nullptr, pointers(command).data(),
                                   pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(Code::kIo, "cannot run {}: {}", command.at(0), std::strerror(error));
  return pid;
}

/// Appends available bytes to `text`. Returns false at the end of the file. Must be called only after poll() has
/// reported an event, so that it does not block.
bool drain(int fd, std::string& text) {
  std::array<char, 4096> chunk;
  const ssize_t count = ::read(fd, chunk.data(), chunk.size());
  if (count > 0) text.append(chunk.data(), static_cast<std::size_t>(count));
  return count > 0;
}

/// Reads both pipes until both have ended, the deadline has passed, or the program has written too much.
void read_all(const OutputPipe& out, const OutputPipe& err, Clock::time_point end, std::size_t most_bytes,
              ChildOutput& output) {
  std::array<pollfd, 2> fds{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    output.timed_out = left <= 0 || ::poll(fds.data(), fds.size(), static_cast<int>(left)) == 0;
    if (output.timed_out) return;
    // Both pipes are read as data arrives. Otherwise a child that fills one pipe would wait forever. poll() ignores
    // negative descriptors.
    if (fds[0].revents != 0 && !drain(fds[0].fd, output.text)) fds[0].fd = -1;
    if (fds[1].revents != 0 && !drain(fds[1].fd, output.errors)) fds[1].fd = -1;
    output.too_long = output.text.size() > most_bytes || output.errors.size() > most_bytes;
    if (output.too_long) return;
  }
}

}  // namespace

// What the program wrote to its standard error is more useful than its exit code.
std::string ChildOutput::failure() const {
  if (timed_out) return "it did not end in time";
  if (too_long) return "it wrote more than is allowed";
  if (WIFSIGNALED(status)) return fmt::format("it crashed ({})", ::strsignal(WTERMSIG(status)));
  if (errors.empty()) return fmt::format("it ended with code {}", WEXITSTATUS(status));
  return errors.substr(0, errors.find_last_not_of('\n') + 1);
}

ChildOutput run_child(const std::vector<std::string>& command, std::chrono::milliseconds deadline,
                      const std::map<std::string, std::string>& environment, std::size_t most_bytes) {
  OutputPipe out, err;
  const pid_t pid = start(command, environment, out, err);
  out.close_writer();
  err.close_writer();
  ChildOutput output;
  read_all(out, err, Clock::now() + deadline, most_bytes, output);
  // The child can be killed immediately, because it only describes a component and has nothing to save.
  if (output.timed_out || output.too_long) ::kill(pid, SIGKILL);
  while (::waitpid(pid, &output.status, 0) < 0 && errno == EINTR) {
  }
  return output;
}

}  // namespace trainyard::launch
