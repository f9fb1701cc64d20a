// SPDX-License-Identifier: Apache-2.0
#include "launch/run/git_question.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "launch/run/spawn.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

/// The largest part of git's answer that is read. A single changed file is enough, so a very long list need not be
/// read.
constexpr std::size_t kMostBytes = 64 << 10;

/// Returns how `git status` is started. The options prevent git from writing to the repository and from running
/// programs that the configuration of the repository names.
SpawnOptions status_of(const std::string& folder) {
  SpawnOptions options;
  options.command = {"git",
                     "-C",
                     folder,
                     "-c",
                     "core.fsmonitor=false",
                     "--no-optional-locks",
                     "status",
                     "--branch",
                     "--porcelain=v2",
                     "--untracked-files=no"};
  options.environment = {{"LC_ALL", "C"}, {"GIT_TERMINAL_PROMPT", "0"}};
  return options;
}

}  // namespace

GitQuestion::GitQuestion(PollLoop& loop, const std::string& folder, std::chrono::milliseconds deadline, Answer answer)
    : loop_(loop), answer_(std::move(answer)) {
  try {
    Spawned git = spawn(status_of(folder));
    // The system call is used directly, because the header of glibc 2.36 for it cannot be included in C++.
    process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, git.pid, 0)));
    out_ = std::move(git.out);
  } catch (const Error&) {
    return;  // git is not installed.
  }
  watch_ = loop_.watch_file(out_.get(), [this] { read(); });
  deadline_ = loop_.after(deadline, [this] { stop(); });
}

GitQuestion::~GitQuestion() { stop(); }

void GitQuestion::stop() {
  loop_.cancel(watch_);
  loop_.cancel(deadline_);
  if (process_) ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
  process_.reset();
  out_.reset();
}

void GitQuestion::read() {
  char part[4096];
  const ssize_t count = ::read(out_.get(), part, sizeof part);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) text_.append(part, static_cast<std::size_t>(count));
  if (count > 0 && text_.size() < kMostBytes) return;
  stop();
  if (const std::optional<archive::GitState> state = parse_git_status(text_)) answer_(*state);
}

// Every line that does not begin with '#' describes a file that differs from the commit.
std::optional<archive::GitState> parse_git_status(std::string_view text) {
  constexpr std::string_view kCommit = "# branch.oid ", kBranch = "# branch.head ";
  std::optional<archive::GitState> state;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kCommit)) {
      state.emplace();
      state->commit = line.substr(kCommit.size());
      if (state->commit == "(initial)") state->commit.clear();
    } else if (state && line.starts_with(kBranch)) {
      state->branch = line.substr(kBranch.size());
      if (state->branch == "(detached)") state->branch.clear();
    } else if (state && !line.starts_with('#')) {
      state->dirty = true;
    }
  }
  return state;
}

}  // namespace trainyard::launch
