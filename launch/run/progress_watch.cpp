// SPDX-License-Identifier: Apache-2.0
#include "launch/run/progress_watch.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "launch/run/process_tree.h"
#include "launch/run/seconds.h"

namespace trainyard::launch {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kInterval{1'000};
/// The deadline of a question for the pulse. It is practically infinite, because a run without progress has its own
/// deadline.
constexpr milliseconds kForEver = std::chrono::hours(24 * 365);
/// Smaller amounts of data, such as log lines that the kernel writes to the disk, do not count as progress.
constexpr std::uint64_t kWorthwhileBytes = 1 << 20;

std::string join(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, "; ")); }

}  // namespace

ProgressWatch::ProgressWatch(RunContext& run, Say late)
    : run_(run),
      late_(std::move(late)),
      counts_blocking_(
          std::ranges::any_of(run.plan.edges, [](const EdgePlan& edge) { return edge.policy == Policy::kBlock; })),
      interval_(run.plan.progress_timeout > milliseconds(0)
                    ? std::clamp(run.plan.progress_timeout / 10, milliseconds(10), kInterval)
                    : kInterval),
      looked_(run.loop.now()),
      timer_(run.loop.after(interval_, [this] { look(); })) {}

ProgressWatch::~ProgressWatch() { run_.loop.cancel(timer_); }

milliseconds ProgressWatch::standstill() const {
  return std::chrono::duration_cast<milliseconds>(still_ + (run_.loop.now() - looked_));
}

// Reports immediately that a process was stopped, because this may have happened by mistake.
void ProgressWatch::on_changed(const ChildProcess& child, int wait_status) {
  if (WIFCONTINUED(wait_status)) return run_.console.say(describe_process(run_, child) + " continues");
  const int signal = WSTOPSIG(wait_status);
  run_.console.say(fmt::format("{} was stopped by signal {} ({}); `kill -CONT {}` continues it",
                               describe_process(run_, child), signal, ::strsignal(signal), child.pid()));
}

void ProgressWatch::look() {
  timer_ = run_.loop.after(interval_, [this] { look(); });
  const auto now = run_.loop.now();
  const auto passed = now - std::exchange(looked_, now);
  look_at_guard();
  // The start and each step of the stop have their own deadlines.
  const RunPhase phase = run_.progress.phase();
  if (phase != RunPhase::kRunning && phase != RunPhase::kAsking) return start_again();
  if (run_.pauses > 0) return start_again();
  for (const auto& child : run_.crew.children()) ask(*child);
  if (stands_by_debugger()) return;
  still_ += passed;
  const milliseconds most = limit();
  if (phase != RunPhase::kRunning || most == milliseconds(0)) return;
  if (still_ >= most) {
    const std::string what = fmt::format("the run has made no progress for {:.3g} s: {}", in_seconds(still_), who());
    start_again();
    return late_(what);
  }
  if (warned_ || still_ < most / 2) return;
  warned_ = true;
  run_.console.say(
      fmt::format("the run has made no progress for {:.3g} s: {}; it ends after {:.3g} s "
                  "(run.progress_timeout_s)",
                  in_seconds(still_), who(), in_seconds(most)));
}

milliseconds ProgressWatch::limit() const {
  const bool stopped = std::ranges::any_of(run_.crew.children(), [](const auto& child) {
    return child->has_components() && child->stopped_by().has_value();
  });
  // Without edges, progress cannot be measured.
  const milliseconds most = run_.plan.edges.empty() ? milliseconds(0) : run_.plan.progress_timeout;
  if (!stopped || run_.plan.progress_timeout == milliseconds(0)) return most;
  return most == milliseconds(0) ? run_.options.stopped : std::min(most, run_.options.stopped);
}

// A debugger stops a process in such a way that the parent is not informed, so /proc must be checked.
bool ProgressWatch::stands_by_debugger() const {
  return std::ranges::any_of(run_.crew.children(), [](const auto& child) {
    return child->running() && !child->is_remote() && is_traced(child->pid());
  });
}

void ProgressWatch::ask(const ChildProcess& child) {
  if (!child.has_components() || !child.running()) return;
  Pulse& pulse = pulses_[child.name()];
  // The disk accesses of processes on other hosts are unknown here.
  const std::uint64_t bytes = child.is_remote() ? 0 : disk_bytes(child.pid());
  if (bytes > pulse.disk_bytes + kWorthwhileBytes) progress();
  pulse.disk_bytes = std::max(pulse.disk_bytes, bytes);
  if (pulse.open) return;
  pulse.open = true;
  pulse.asked = run_.loop.now();
  run_.call(child.name(), "", "pulse", "{}", kForEver,
            [this, &child](bool ok, const std::string& body) { answered(child, ok ? body : ""); });
}

void ProgressWatch::answered(const ChildProcess& child, const std::string& body) {
  Pulse& pulse = pulses_[child.name()];
  pulse.open = false;
  const auto answer = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return;
  try {
    const auto sent = answer.at(counts_blocking_ ? "sent_blocking" : "sent").get<std::uint64_t>();
    if (sent != std::exchange(pulse.sent, sent)) progress();
    pulse.busy.clear();
    for (const auto& loop : answer.at("busy")) {
      const auto names = loop.at("components").get<std::vector<std::string>>();
      const auto since = loop.at("seconds").get<double>();
      // Work that began long after the last message cannot be the cause.
      if (since < in_seconds(still_) / 2) continue;
      pulse.busy.push_back(fmt::format("{} '{}' in {} {} been busy for {:.3g} s",
                                       names.size() == 1 ? "component" : "one of the components",
                                       fmt::join(names, "', '"), describe_process(run_, child), "has", since));
    }
  } catch (const nlohmann::json::exception&) {
    // A malformed answer counts as no progress.
  }
}

void ProgressWatch::progress() {
  if (warned_) run_.console.say("the run goes on");
  start_again();
}

void ProgressWatch::start_again() {
  warned_ = false;
  still_ = {};
}

// Names stopped processes if there are any, otherwise processes that do not answer, otherwise busy components: the
// first of these is the cause of the others.
std::string ProgressWatch::who() const {
  std::vector<std::string> stopped;
  std::vector<std::string> silent;
  std::vector<std::string> busy;
  for (const auto& child : run_.crew.children()) {
    if (!child->running() || !child->has_components()) continue;
    const std::string name = describe_process(run_, *child);
    if (const auto signal = child->stopped_by()) {
      stopped.push_back(fmt::format("{} was stopped by signal {} ({})", name, *signal, ::strsignal(*signal)));
    }
    const auto pulse = pulses_.find(child->name());
    if (pulse == pulses_.end()) continue;
    const auto waited = run_.loop.now() - pulse->second.asked;
    if (pulse->second.open && waited > std::max<PollLoop::Clock::duration>(still_ / 2, 3 * interval_)) {
      silent.push_back(fmt::format("{} has not answered for {:.3g} s", name, in_seconds(waited)));
    }
    busy.insert(busy.end(), pulse->second.busy.begin(), pulse->second.busy.end());
  }
  if (!stopped.empty()) return join(stopped);
  if (!silent.empty()) return join(silent);
  if (!busy.empty()) return join(busy);
  return "every component waits for a message from another";
}

// Reports if a signal has stopped the guard. The run can continue, but signals that are sent to the command no longer
// reach the launcher.
void ProgressWatch::look_at_guard() {
  const pid_t guard = run_.guard.pid();
  const bool stopped = guard != 0 && state_of(guard) == 'T';
  if (stopped == std::exchange(guard_stopped_, stopped)) return;
  run_.console.say(stopped ? fmt::format("the guard (process {}) was stopped by a signal; the run goes on, but Ctrl-C "
                                         "reaches it only after `kill -CONT {}`",
                                         guard, guard)
                           : fmt::format("the guard (process {}) continues", guard));
}

}  // namespace trainyard::launch
