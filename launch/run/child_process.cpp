#include "launch/run/child_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace trainyard::launch {

// Three things come from a process: lines on two pipes, and its end. They are independent of each other, and the end
// may be seen before the last line: hence the reading in reaped().
ChildProcess::ChildProcess(PollLoop& loop, const PlannedProcess& planned, std::uint32_t index, OnLine on_line)
    : loop_(loop), planned_(planned), index_(index), on_line_(std::move(on_line)) {}

ChildProcess::~ChildProcess() {
  loop_.cancel(out_watch_);
  loop_.cancel(err_watch_);
  loop_.cancel(ladder_timer_);
}

// The splitters and last lines stay: after a restart they still hold what the one before said.
void ChildProcess::start(const SpawnOptions& options) {
  Spawned spawned = spawn(options);
  pid_ = spawned.pid;
  out_ = std::move(spawned.out);
  err_ = std::move(spawned.err);
  ending_ = false;
  out_watch_ = loop_.watch_file(out_.get(), [this] { read_output(out_.get(), out_lines_, false, out_watch_); });
  err_watch_ = loop_.watch_file(err_.get(), [this] { read_output(err_.get(), err_lines_, true, err_watch_); });
}

void ChildProcess::read_output(int file, LineSplitter& splitter, bool from_stderr, PollLoop::Id& watch) {
  // Kept and shown: what was shown may have scrolled away when the process fails.
  const auto take = [&](std::string_view line) {
    last_lines_.add(line);
    on_line_(line, from_stderr);
  };
  // One pipe's worth at a time: a process that prints without end must not keep the launcher from its other duties.
  constexpr int kPartsAtATime = 16;
  char part[4096];
  for (int i = 0; i < kPartsAtATime; ++i) {
    const ssize_t got = ::read(file, part, sizeof part);
    if (got > 0) {
      splitter.feed({part, static_cast<std::size_t>(got)}, take);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      splitter.finish(take);
      loop_.cancel(std::exchange(watch, 0));
      return;
    } else {
      return;
    }
  }
}

void ChildProcess::read_now() {
  if (out_watch_ != 0) read_output(out_.get(), out_lines_, false, out_watch_);
  if (err_watch_ != 0) read_output(err_.get(), err_lines_, true, err_watch_);
}

void ChildProcess::reaped() {
  read_now();
  loop_.cancel(std::exchange(out_watch_, 0));
  loop_.cancel(std::exchange(err_watch_, 0));
  loop_.cancel(std::exchange(ladder_timer_, 0));
  // Its own children may still hold the other ends; what they print now is nobody's.
  out_.reset();
  err_.reset();
  pid_ = 0;
}

bool ChildProcess::may_restart(bool failed) {
  const RespawnPolicy& policy = planned_.respawn;
  if (policy.when == RespawnPolicy::When::kNever) return false;
  if (policy.when == RespawnPolicy::When::kOnFailure && !failed) return false;
  const auto now = PollLoop::Clock::now();
  // Old restarts are forgiven: only a process that keeps dying is given up.
  while (!restarts_.empty() && restarts_.front() + policy.window < now) restarts_.pop_front();
  if (restarts_.size() >= policy.max) return false;
  // Counted when allowed, not when done: a start that fails uses up one of them, so that it cannot go on for ever.
  restarts_.push_back(now);
  return true;
}

void ChildProcess::end(std::chrono::milliseconds rung) {
  if (!running() || ending_) return;
  ending_ = true;
  climb(0, rung);
}

// Negative: the whole group. A process that reacts is reaped, which cancels the timer of the next rung.
void ChildProcess::climb(int step, std::chrono::milliseconds rung) {
  constexpr int kRungs[] = {SIGINT, SIGTERM, SIGKILL};
  if (!running()) return;
  ::kill(-pid_, kRungs[step]);
  if (step == 2) return;
  ladder_timer_ = loop_.after(rung, [this, step, rung] { climb(step + 1, rung); });
}

void ChildProcess::kill() {
  if (running()) ::kill(-pid_, SIGKILL);
}

std::string describe_wait_status(int status) {
  if (WIFEXITED(status)) return fmt::format("ended with exit code {}", WEXITSTATUS(status));
  return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

bool is_failure(int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; }

}  // namespace trainyard::launch
