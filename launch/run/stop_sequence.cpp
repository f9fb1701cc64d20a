// SPDX-License-Identifier: Apache-2.0
#include "launch/run/stop_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "launch/run/seconds.h"

namespace trainyard::launch {
namespace {

using std::chrono::milliseconds;

/// How long each step may take after a failure. It is short, because components may wait for messages that will never
/// be handled.
constexpr milliseconds kPatienceAfterFailure{2'000};

/// How long a run that has failed may make no progress while its components save their state.
constexpr milliseconds kPatienceToRescue{5'000};

/// The shortest time that a process gets to end after its components have been finalized. If the plan's stop_timeout is
/// longer, it applies instead.
constexpr milliseconds kPatienceForExit{10'000};

}  // namespace

StopSequence::StopSequence(RunContext& run, Links links)
    : run_(run), links_(std::move(links)), patience_(run.plan.stop_timeout) {}

StopSequence::~StopSequence() { run_.loop.cancel(deadline_); }

// Sets the deadline of the current step, and cancels that of the previous step.
void StopSequence::set_deadline(milliseconds deadline, std::function<void()> late) {
  run_.loop.cancel(deadline_);
  deadline_ = run_.loop.after(deadline, std::move(late));
}

/// Returns true if the component has a service "stop". Any component that has one can be asked, whatever its name.
bool StopSequence::has_stop(const ComponentPlan& component) const {
  const core::PluginInfo* declared = run_.declaration_of(component);
  return declared != nullptr && std::ranges::any_of(declared->services, [](const core::ServiceInfo& service) {
           return service.name == "stop";
         });
}

bool StopSequence::ask_to_stop(const std::string& body) {
  run_.progress.enter(RunPhase::kAsking);
  for (const ComponentPlan& component : run_.plan.components) {
    // A component that is not active cannot answer, so it is not asked.
    if (!has_stop(component) || run_.states[component.index] != State::kActive) continue;
    ++asked_;
    run_.call(component.process, component.name, "stop", body, run_.plan.stop_timeout,
              [this](bool ok, const std::string&) {
                // If all components have refused to stop the run, it is ended without them.
                if (!ok && --asked_ == 0 && asking()) finish();
              });
  }
  return asked_ > 0;
}

void StopSequence::interrupt() {
  if (run_.progress.stopping()) return;
  const bool asked = ask_to_stop("{}");
  // If a call has failed immediately, finish() has already been called.
  if (!asking()) return;
  if (!asked) return finish();
  await_stop(run_.plan.stop_timeout, [this] {
    links_.failed(
        fmt::format("no component said that the run is finished, and nothing has moved for {} s since it was "
                    "asked to stop",
                    in_seconds(run_.plan.stop_timeout)));
    finish();
  });
}

bool StopSequence::rescue() {
  if (run_.progress.phase() != RunPhase::kRunning || !ask_to_stop(R"({"reason": "to keep its state"})")) return false;
  // If the part of the run that has failed is needed to stop it, there is no more progress, and the run is aborted.
  if (asking()) await_stop(std::min(kPatienceToRescue, patience_), [this] { abort(); });
  return true;
}

// The time is measured from the last progress and not from the request, because a step or a checkpoint may take long.
void StopSequence::await_stop(milliseconds patience, const std::function<void()>& late) {
  look_after(patience, patience, late);
}

void StopSequence::look_after(milliseconds delay, milliseconds patience, const std::function<void()>& late) {
  set_deadline(delay, [this, patience, late] {
    const milliseconds still = links_.standstill();
    if (still >= patience) return late();
    look_after(patience - still, patience, late);
  });
}

// In later phases, the run is already ending.
void StopSequence::finish() {
  if (run_.progress.phase() > RunPhase::kAsking) return;
  deactivate(TransitionSequence::Pace::kOneByOne, patience_);
}

void StopSequence::abort() {
  // In later phases, components are already being finalized, so abort() could not make the end faster.
  if (run_.progress.phase() > RunPhase::kDeactivating) return;
  // The plan may set a shorter time, but not a longer one.
  patience_ = std::min(patience_, kPatienceAfterFailure);
  deactivate(TransitionSequence::Pace::kAllAtOnce, patience_);
}

void StopSequence::deactivate(TransitionSequence::Pace pace, milliseconds deadline) {
  run_.progress.enter(RunPhase::kDeactivating);
  run_.crew.cancel_restarts();
  // The order is the reverse of the activation: sources come first, so that messages that are under way still have
  // receivers.
  const std::vector<std::uint32_t> order(run_.plan.activation.rbegin(), run_.plan.activation.rend());
  sequence_.emplace(order, State::kInactive, pace, run_.states,
                    [this](std::uint32_t component) { run_.ask(component, State::kInactive); });
  set_deadline(deadline, [this] {
    report_awaited();
    finalize();
  });
  on_state_changed();
}

// Finalizes all components simultaneously. They no longer send messages, so they do not depend on each other.
void StopSequence::finalize() {
  run_.progress.enter(RunPhase::kFinalizing);
  sequence_.emplace(run_.plan.activation, State::kFinalized, TransitionSequence::Pace::kAllAtOnce, run_.states,
                    [this](std::uint32_t component) { run_.ask(component, State::kFinalized); });
  set_deadline(patience_, [this] {
    report_awaited();
    end_processes();
  });
  on_state_changed();
}

void StopSequence::on_state_changed() {
  if (!sequence_ || !sequence_->advance()) return;
  if (run_.progress.phase() == RunPhase::kDeactivating) {
    finalize();
  } else if (run_.progress.phase() == RunPhase::kFinalizing) {
    end_processes();
  }
}

/// A process ends without a signal when its components are finalized. External programs, and processes with failed
/// components, do not.
bool StopSequence::ends_by_itself(const ChildProcess& child) const {
  const std::vector<std::uint32_t> components = run_.components_of(child.name());
  return !components.empty() &&
         std::ranges::all_of(components, [this](std::uint32_t i) { return run_.states[i] == State::kFinalized; });
}

// Sends signals to the processes that do not end without a signal, and waits for all processes.
void StopSequence::end_processes() {
  run_.progress.enter(RunPhase::kEnding);
  sequence_.reset();
  for (const auto& child : run_.crew.children()) {
    if (!ends_by_itself(*child)) child->end(run_.options.rung);
  }
  set_deadline(std::max(kPatienceForExit, run_.plan.stop_timeout), [this] {
    for (const auto& child : run_.crew.children()) {
      if (ends_by_itself(*child) && child->running()) {
        links_.failed(fmt::format("process '{}' has finalized its components and does not end", child->name()));
      }
      child->end(run_.options.rung);
    }
  });
  on_gone();
}

void StopSequence::force() {
  // A second call sends SIGKILL immediately.
  const bool again = run_.progress.phase() == RunPhase::kForced;
  run_.progress.enter(RunPhase::kForced);
  run_.crew.cancel_restarts();
  run_.loop.cancel(std::exchange(deadline_, 0));
  sequence_.reset();
  for (const auto& child : run_.crew.children()) {
    if (again) {
      child->kill();
    } else {
      child->end(run_.options.rung);
    }
  }
  on_gone();
}

void StopSequence::on_gone() {
  // In earlier phases, the sequence continues even if all processes have ended: it skips their components and so
  // reaches the phase kEnding.
  if (run_.progress.phase() >= RunPhase::kEnding && run_.crew.all_gone()) return links_.gone();
  on_state_changed();
}

void StopSequence::report_awaited() {
  if (!sequence_) return;
  for (const std::uint32_t component : sequence_->awaited()) {
    links_.failed(fmt::format("{} did not become {} within {} s", describe_component(run_.plan.components[component]),
                              name_of(sequence_->target()), in_seconds(patience_)));
  }
}

}  // namespace trainyard::launch
