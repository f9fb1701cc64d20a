// SPDX-License-Identifier: Apache-2.0
#include "launch/run/crew.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "launch/run/waiting_threads.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

/// The lowest number that the duplicate of stdout can get, so that low numbers remain free for programs that need them.
constexpr int kLowestConsoleFile = 20;

/// Returns the names of the signals, such as "SIGTERM SIGUSR1".
std::string names_of(const std::vector<int>& signals) {
  std::string names;
  for (const int signal : signals) names += fmt::format("{}SIG{}", names.empty() ? "" : " ", ::sigabbrev_np(signal));
  return names;
}

}  // namespace

// Creates an object for every process of the plan, even if the process is started later.
Crew::Crew(PollLoop& loop, RunConsole& console, const Plan& plan, CrewOptions options, Reports reports)
    : loop_(loop),
      console_(console),
      options_(std::move(options)),
      reports_(std::move(reports)),
      console_file_(::fcntl(STDOUT_FILENO, F_DUPFD, kLowestConsoleFile)) {
  for (std::size_t i = 0; i < plan.processes.size(); ++i) {
    auto child = std::make_unique<ChildProcess>(
        loop, plan.processes[i], static_cast<std::uint32_t>(i),
        [this, i](std::string_view line, bool from_stderr) { print(*children_[i], line, from_stderr); });
    children_.push_back(std::move(child));
  }
}

Crew::~Crew() {
  cancel_restarts();
  if (console_file_ >= 0) ::close(console_file_);
}

ChildProcess* Crew::find(const std::string& name) const {
  const auto child = std::ranges::find_if(children_, [&](const auto& candidate) { return candidate->name() == name; });
  return child == children_.end() ? nullptr : child->get();
}

SpawnOptions spawn_options(const PlannedProcess& planned, const CrewOptions& crew) {
  SpawnOptions options;
  options.environment = planned.environment;
  // These variables are set last, so that a launch file cannot replace them.
  options.environment["TRAINYARD_RUN"] = crew.run;
  options.environment["TRAINYARD_RUN_DIRECTORY"] = crew.run_directory;
  options.command = planned.command;
  options.cpus = planned.cpus;
  options.ignored_signals = crew.engine_signals;
  if (!planned.has_components()) {
    // An external program receives no plan, so its parameters are in an environment variable.
    options.environment["TRAINYARD_PARAMETERS"] = planned.parameters;
    // SIGTERM must not be ignored, because it asks an external program to end, and the program may know no other way to
    // end cleanly.
    std::erase(options.ignored_signals, SIGTERM);
    return options;
  }
  let_waiting_threads_sleep(options.environment);
  // The keys are passed through a pipe, because other users can read command lines, and all child processes inherit the
  // environment.
  options.input = crew.keys;
  const auto add = [&options](std::initializer_list<std::string> words) {
    options.command.insert(options.command.end(), words);
  };
  const bool hosts_plugins = options.command.empty();
  if (hosts_plugins) add({crew.process_program});
  // These arguments are the same for every process with components, whatever its language.
  add({"--control", crew.control_endpoint, "--process", planned.name});
  if (hosts_plugins) {
    add({"--denormals", crew.flush_denormals ? "flush" : "keep"});
  } else {
    options.environment["TRAINYARD_IGNORED_SIGNALS"] = names_of(options.ignored_signals);
  }
  return options;
}

SpawnOptions Crew::local_options(const ChildProcess& child) const {
  SpawnOptions options = spawn_options(child.planned(), options_);
  if (!child.has_components()) return options;
  if (console_file_ >= 0) options.environment["TRAINYARD_CONSOLE_FD"] = std::to_string(console_file_);
  if (child.name() == options_.wrapped_process) {
    options.command.insert(options.command.begin(), options_.wrapper.begin(), options_.wrapper.end());
  }
  return options;
}

void Crew::print(const ChildProcess& child, std::string_view line, bool from_stderr) {
  // Lines of components already contain the name of the component. Lines of external programs get the name of the
  // program.
  console_.line(child.has_components() ? "" : "[" + child.name() + "] ", line, from_stderr);
}

void Crew::start(ChildProcess& child) {
  if (child.is_remote()) return child.start_remotely();
  try {
    child.start(local_options(child));
  } catch (const Error& error) {
    // The name of the process is added, because the name of the program alone, such as "python3", may not be helpful.
    throw Error(error.code(), "process '{}': {}", child.name(), error.what());
  }
}

void Crew::start_later(ChildProcess& child, std::function<void(const std::string&)> failed) {
  restart_timers_[&child] = loop_.after(child.planned().respawn.delay, [this, &child, failed = std::move(failed)] {
    // The entry of the timer is removed first, because the restart is no longer pending.
    restart_timers_.erase(&child);
    try {
      start(child);
    } catch (const Error& error) {
      failed(error.what());
    }
  });
}

void Crew::reap() {
  int status = 0;
  pid_t pid = 0;
  // Reaps all child processes that have ended, because one SIGCHLD can stand for several.
  while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
    const auto child =
        std::ranges::find_if(children_, [&](const auto& one) { return !one->is_remote() && one->pid() == pid; });
    if (child == children_.end()) continue;  // This is a grandchild whose parent has ended.
    note(**child, status);
  }
}

void Crew::note(ChildProcess& child, int status) {
  if (WIFSTOPPED(status)) {
    child.stopped_by(WSTOPSIG(status));
    reports_.changed(child, status);
  } else if (WIFCONTINUED(status)) {
    // If the process was not reported as stopped, the guard had suspended the whole run, and nothing is reported.
    if (!child.stopped_by()) return;
    child.continues();
    reports_.changed(child, status);
  } else {
    child.reaped();
    // The callback is called last, because it may start the process again.
    reports_.ended(child, status);
  }
}

// Only timers of pending restarts are in the table.
void Crew::cancel_restarts() {
  for (const auto& [child, timer] : restart_timers_) loop_.cancel(timer);
  restart_timers_.clear();
}

bool Crew::all_gone() const {
  return std::ranges::none_of(children_, [](const auto& child) { return child->running(); });
}

}  // namespace trainyard::launch
