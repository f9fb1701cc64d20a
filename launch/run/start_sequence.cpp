// SPDX-License-Identifier: Apache-2.0
#include "launch/run/start_sequence.h"

#include <fmt/format.h>

#include <utility>

#include "core/plugin/abi.h"
#include "launch/run/gateway_address.h"
#include "launch/run/seconds.h"
#include "messages/error.h"
#include "messages/header.h"
#include "messages/printable.h"

namespace trainyard::launch {

using Stage = StartBarrier::Stage;

namespace {

/// What a member must send as the `abi_tag` of its Hello: the version of the wire format that it implements.
const std::string kMemberTag = fmt::format("wire {}", Header::kVersion);

/// Returns the reason why the process cannot be part of this run, or an empty text if it can.
std::string object_to(const ChildProcess& child, const Hello& hello) {
  if (child.planned().member) {
    if (hello.abi_tag == kMemberTag) return "";
    return fmt::format("the member '{}' implements '{}', and this launcher '{}' (docs/wire_format.md)", child.name(),
                       printable(hello.abi_tag), kMemberTag);
  }
  if (abi_matches(hello.abi_tag, host_abi_tag())) return "";
  return fmt::format("process '{}' is of another build: its ABI tag is '{}', the launcher's is '{}'", child.name(),
                     hello.abi_tag, host_abi_tag());
}

}  // namespace

StartSequence::StartSequence(RunContext& run, std::function<void(const std::string&)> failed)
    : run_(run), failed_(std::move(failed)) {}

StartSequence::~StartSequence() { run_.loop.cancel(deadline_); }

void StartSequence::begin() {
  deadline_ = run_.loop.after(run_.plan.start_timeout, [this] { too_late(); });
  for (const auto& child : run_.crew.children()) {
    if (child->has_components()) run_.crew.start(*child);
  }
  // If there are only external programs, no messages are awaited.
  if (run_.plan.components.empty()) connect_all();
}

void StartSequence::cancel() {
  activations_.clear();
  run_.loop.cancel(std::exchange(deadline_, 0));
}

// Ignores another Hello of a process that has already received its plan.
void StartSequence::on_hello(const std::string& process, const Hello& hello) {
  const ChildProcess* child = run_.crew.find(process);
  // If the run is ending, the process is not started any further; the stop sequence ends it.
  if (run_.progress.stopping() || run_.barrier.stage(process) != Stage::kStarting) return;
  if (const std::string objection = object_to(*child, hello); !objection.empty()) return failed_(objection);
  run_.barrier.set_stage(process, Stage::kConfiguring);
  run_.control.send(process, process_plan(run_.plan, child->index(), run_.places.at(child->planned().host)));
}

// Ignores another Configured of the same process.
void StartSequence::on_configured(const std::string& process, const Configured& configured) {
  if (run_.progress.stopping() || run_.barrier.stage(process) != Stage::kConfiguring) return;
  run_.barrier.configured(process, configured.endpoints);
  // The message shows that all components of the process are inactive, even if their own reports arrive later.
  for (const std::uint32_t component : run_.components_of(process)) run_.states[component] = State::kInactive;
  // A restarted process need not wait for the other processes, because they are connected.
  if (run_.progress.phase() != RunPhase::kStarting) {
    rejoin(process);
  } else if (run_.barrier.all_at_least(Stage::kConfigured)) {
    connect_all();
  }
}

// Is called when all processes have bound their sockets, so they can connect to each other.
void StartSequence::connect_all() {
  run_.progress.enter(RunPhase::kConnecting);
  for (const auto& child : run_.crew.children()) {
    if (child->has_components()) run_.barrier.set_stage(child->name(), Stage::kConnecting);
  }
  send_endpoints();
  if (run_.plan.components.empty()) activate_all();
}

// A gateway is a socket in the run directory of its host, so its address is sent only to processes of this host. The
// processes of another host are sent the address of the entrance to the gateway, if their host has one.
void StartSequence::send_endpoints() {
  std::vector<Connect> messages(run_.plan.hosts, Connect{run_.barrier.endpoints()});
  for (std::uint32_t host = 0; run_.plan.hosts > 1 && host < run_.plan.hosts; ++host) {
    const bool entrances = has_entrances(run_, host);
    for (const auto& child : run_.crew.children()) {
      const auto gateway = messages[host].endpoints.find(child->name() + "/gateway");
      if (child->planned().host == host || gateway == messages[host].endpoints.end()) continue;
      if (entrances) {
        gateway->second = entrance_address(run_.places.at(host).run_directory, child->index());
      } else {
        messages[host].endpoints.erase(gateway);
      }
    }
  }
  for (const auto& child : run_.crew.children()) {
    if (child->has_components() && child->running()) {
      run_.control.send(child->name(), messages.at(child->planned().host));
    }
  }
}

// Sends Connect to all processes: the restarted process needs the endpoints of the others, and the others need its new
// endpoints.
void StartSequence::rejoin(const std::string& process) {
  run_.barrier.set_stage(process, Stage::kConnecting);
  send_endpoints();
}

void StartSequence::on_connected(const std::string& process) {
  // All processes answer every Connect, but only the answer of a process that is still connecting matters.
  if (run_.progress.stopping() || run_.barrier.stage(process) != Stage::kConnecting) return;
  run_.barrier.set_stage(process, Stage::kConnected);
  // When a process has been restarted, only its own components are activated.
  if (run_.progress.phase() == RunPhase::kRunning) {
    activations_.insert_or_assign(process, activation(run_.components_of(process)));
    on_state_changed();
  } else if (run_.barrier.all_at_least(Stage::kConnected)) {
    activate_all();
  }
}

TransitionSequence StartSequence::activation(std::vector<std::uint32_t> components) {
  return TransitionSequence(std::move(components), State::kActive, TransitionSequence::Pace::kOneByOne, run_.states,
                            [this](std::uint32_t component) { run_.ask(component, State::kActive); });
}

// External programs are started first, so that a program such as a viewer does not miss the first messages.
void StartSequence::activate_all() {
  start_programs();
  if (run_.progress.stopping()) return;
  activations_.insert_or_assign("", activation(run_.plan.activation));
  on_state_changed();
}

/// Starts the external programs. They are not started earlier, because the endpoints of all processes are known only
/// now.
void StartSequence::start_programs() {
  for (const auto& child : run_.crew.children()) {
    if (child->has_components()) continue;
    try {
      run_.crew.start(*child);
    } catch (const Error& error) {
      failed_(error.what());
      return;
    }
  }
}

void StartSequence::on_state_changed() {
  for (auto sequence = activations_.begin(); sequence != activations_.end();) {
    // This sequence is still waiting for a component.
    if (!sequence->second.advance()) {
      ++sequence;
      continue;
    }
    const bool all = sequence->first.empty();
    sequence = activations_.erase(sequence);
    if (!all) continue;
    // The start is complete, so its deadline is cancelled. Restarts have no deadline, because the run continues
    // meanwhile.
    run_.progress.enter(RunPhase::kRunning);
    run_.loop.cancel(std::exchange(deadline_, 0));
  }
}

// Other activations may have waited for a component of this process.
void StartSequence::on_gone(const std::string& process) {
  run_.barrier.reset(process);
  activations_.erase(process);
  on_state_changed();
}

// The error names everything that is missing, because one cause often has several consequences.
void StartSequence::too_late() {
  std::vector<std::string> reasons = run_.barrier.missing();
  const auto all = activations_.find("");
  if (all != activations_.end()) {
    for (const std::uint32_t component : all->second.awaited()) {
      reasons.push_back(describe_component(run_.plan.components[component]) + " did not become active");
    }
  }
  const auto seconds = in_seconds(run_.plan.start_timeout);
  failed_(fmt::format("the run did not start within {} s: {}", seconds, fmt::join(reasons, "; ")));
}

}  // namespace trainyard::launch
