// SPDX-License-Identifier: Apache-2.0
#include "launch/run/child_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace trainyard::launch {

// The launcher may notice the end of a process before it has read the last lines of its output. So reaped() reads the
// rest of the output.
ChildProcess::ChildProcess(PollLoop& loop, const PlannedProcess& planned, std::uint32_t index, OnLine on_line)
    : loop_(loop), planned_(planned), index_(index), output_(loop, std::move(on_line)) {}

ChildProcess::~ChildProcess() { loop_.cancel(ladder_timer_); }

void ChildProcess::start(const SpawnOptions& options) {
  Spawned spawned = spawn(options);
  pid_ = spawned.pid;
  running_ = true;
  ending_ = deaf_ = false;
  stopped_by_.reset();
  output_.open(std::move(spawned.out), std::move(spawned.err));
}

void ChildProcess::start_remotely() {
  running_ = true;
  ending_ = deaf_ = false;
  stopped_by_.reset();
  remote_->start(index_);
}

void ChildProcess::reaped() {
  output_.close();
  loop_.cancel(std::exchange(ladder_timer_, 0));
  last_pid_ = std::exchange(pid_, 0);
  running_ = false;
  stopped_by_.reset();
}

// A negative pid stands for the whole process group.
void ChildProcess::send(int signal) const {
  if (remote_ != nullptr) {
    remote_->signal(index_, signal);
  } else {
    ::kill(-pid_, signal);
  }
}

bool ChildProcess::may_restart(bool failed) {
  const RespawnPolicy& policy = planned_.respawn;
  if (policy.when == RespawnPolicy::When::kNever) return false;
  if (policy.when == RespawnPolicy::When::kOnFailure && !failed) return false;
  const auto now = PollLoop::Clock::now();
  // Restarts before the window do not count, so only a process that ends again and again is given up.
  while (!restarts_.empty() && restarts_.front() + policy.window < now) restarts_.pop_front();
  if (restarts_.size() >= policy.max) return false;
  // A restart is counted when it is allowed and not when it is done. So a restart that fails is counted, too, and
  // cannot be repeated forever.
  restarts_.push_back(now);
  ++all_restarts_;
  return true;
}

void ChildProcess::end(std::chrono::milliseconds rung) {
  if (!running() || ending_) return;
  ending_ = true;
  climb(0, rung);
}

// Sends signal number `step`, and starts the timer for the next signal. If the process ends, reaped() cancels the
// timer.
void ChildProcess::climb(int step, std::chrono::milliseconds rung) {
  constexpr int kRungs[] = {SIGINT, SIGTERM, SIGKILL};
  if (!running()) return;
  send(kRungs[step]);
  deaf_ = step == 2;
  if (deaf_) return;
  // A process that a signal has stopped can react only after SIGCONT.
  send(SIGCONT);
  ladder_timer_ = loop_.after(rung, [this, step, rung] { climb(step + 1, rung); });
}

void ChildProcess::kill() {
  if (running()) send(SIGKILL);
}

std::string describe_wait_status(int status) {
  if (WIFEXITED(status)) return fmt::format("ended with exit code {}", WEXITSTATUS(status));
  return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

bool ended_by(int status, std::initializer_list<int> signals) {
  constexpr int kShell = 128;  // The number that shells add to the number of a signal.
  return std::ranges::any_of(signals, [status](int signal) {
    return WIFEXITED(status) ? WEXITSTATUS(status) == kShell + signal : WTERMSIG(status) == signal;
  });
}

bool is_failure(int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; }

}  // namespace trainyard::launch
