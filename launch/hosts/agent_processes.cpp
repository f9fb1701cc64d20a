// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/agent_processes.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "messages/error.h"

namespace trainyard::launch {
namespace {

/// The wait status that is reported for a program that cannot be started. It contains the exit code 127, as in shells.
constexpr int kNotStarted = 127 << 8;

PlannedProcess planned_process(const HostProcess& process) {
  PlannedProcess planned;
  planned.name = process.name;
  planned.command = process.command;
  planned.member = process.member;
  planned.parameters = process.parameters;
  planned.environment = process.environment;
  planned.cpus = process.cpus;
  return planned;
}

}  // namespace

AgentProcesses::AgentProcesses(PollLoop& loop, const HostPart& part, CrewOptions options, HostLink& link)
    : link_(link), options_(std::move(options)) {
  for (const HostProcess& process : part.processes) {
    Entry& entry = entries_[process.index];
    entry.planned = planned_process(process);
    entry.child = std::make_unique<ChildProcess>(
        loop, entry.planned, process.index, [this, index = process.index](std::string_view line, bool from_stderr) {
          link_.send(ProcessLine{index, from_stderr, std::string(line)});
        });
  }
}

void AgentProcesses::start(std::uint32_t index) {
  const auto entry = entries_.find(index);
  if (entry == entries_.end() || entry->second.child->running()) return;
  ChildProcess& child = *entry->second.child;
  try {
    child.start(spawn_options(entry->second.planned, options_));
    link_.send(ProcessStarted{index, child.pid()});
  } catch (const Error& error) {
    link_.send(ProcessChanged{index, kNotStarted, error.what()});
  }
}

void AgentProcesses::signal(std::uint32_t index, int signal) {
  const auto entry = entries_.find(index);
  if (entry != entries_.end() && entry->second.child->running()) ::kill(-entry->second.child->pid(), signal);
}

void AgentProcesses::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
    const auto entry = std::ranges::find_if(entries_, [&](const auto& one) { return one.second.child->pid() == pid; });
    if (entry == entries_.end()) continue;  // This is a grandchild whose parent has ended.
    // reaped() sends the last lines of the process, which must reach the launcher before the report that it has ended.
    if (WIFEXITED(status) || WIFSIGNALED(status)) entry->second.child->reaped();
    link_.send(ProcessChanged{entry->first, status, ""});
  }
}

}  // namespace trainyard::launch
