// SPDX-License-Identifier: Apache-2.0
#include "core/process/life_cycle.h"

#include <algorithm>

#include "core/component/boundary.h"
#include "core/edge/edge.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

/// The interval at which report_when_drained() checks the edges. Draining is rare, and most edges are already empty.
constexpr auto kDrainInterval = std::chrono::milliseconds(1);

/// Returns true if all messages that the component has sent over blocking edges have been handled. Other edges, such as
/// those to visitors, do not count, because their receivers must not delay the end.
bool drained(const Component& component) {
  return std::ranges::all_of(component.outputs(), [](const OutputBase* output) {
    return std::ranges::all_of(output->edges(),
                               [](const Edge* edge) { return edge->policy() != Policy::kBlock || edge->drained(); });
  });
}

}  // namespace

bool may_follow(ProcessPhase now, ProcessPhase next) {
  switch (now) {
    case ProcessPhase::kWaiting:
      return next == ProcessPhase::kConfiguring || next == ProcessPhase::kFailed;
    case ProcessPhase::kConfiguring:
      return next == ProcessPhase::kConfigured || next == ProcessPhase::kFailed || next == ProcessPhase::kEnded;
    case ProcessPhase::kConfigured:
      return next == ProcessPhase::kEnded;
    case ProcessPhase::kFailed:
    case ProcessPhase::kEnded:
      return false;
  }
  return false;
}

void LifeCycle::enter(ProcessPhase next) {
  if (!may_follow(phase_, next)) {
    throw Error(Code::kInternal, "a process in phase {} cannot enter phase {}", static_cast<int>(phase_),
                static_cast<int>(next));
  }
  phase_ = next;
}

void LifeCycle::configure(const ComponentHost& host) {
  enter(ProcessPhase::kConfiguring);
  for (const auto& [index, component] : host.components()) {
    // Both sets are filled before the first component is asked, so that an early answer is not mistaken for the last
    // one.
    unconfigured_.insert(component->name());
    unfinished_.insert(component->name());
  }
  for (const auto& [index, component] : host.components()) bring(*component, State::kInactive);
}

void LifeCycle::bring(Component& component, State target) {
  component.loop().post([this, &component, target] { change(component, target); });
}

void LifeCycle::change(Component& component, State target) {
  // The failure has already been reported, and a failed component cannot change its state. This report only answers the
  // request.
  if (component.state() == State::kError) return report_later(component, target, "");
  // The launcher repeats the request if another component has failed in the meantime. This component is inactive
  // already, and reports when it is drained.
  if (target == State::kInactive && component.state() == State::kInactive) return;
  // A component that has just been configured is also inactive, but has not sent anything. Only a component that was
  // active must be drained.
  const bool drains = target == State::kInactive && component.state() == State::kActive;
  try {
    // If another component has failed, the launcher may finalize this component before it knows that the component has
    // become active.
    if (target == State::kFinalized && component.state() == State::kActive) component.transition(State::kInactive);
    // The hook may block, for example until a checkpoint is written. It then blocks only this component's loop.
    component.transition(target);
  } catch (...) {
    return report_later(component, State::kError, describe_current_exception());
  }
  if (!drains) return report_later(component, target, "");
  for (OutputBase* output : component.outputs()) {
    // Receivers normally return credit only after half a window of messages. Without this request, they might never
    // return the last credit.
    for (Edge* edge : output->edges()) edge->request_flush();
  }
  report_when_drained(component);
}

void LifeCycle::report_when_drained(Component& component) {
  if (drained(component)) return report_later(component, State::kInactive, "");
  component.loop().after(kDrainInterval, [this, &component] { report_when_drained(component); });
}

void LifeCycle::report_later(const Component& component, State state, const std::string& error) {
  control_.post([this, &component, state, error] { report(component, state, error); });
}

void LifeCycle::report(const Component& component, State state, const std::string& error) {
  reports_.state_changed(component.name(), state, error);
  // The first report of each component is the result of its configuration.
  if (unconfigured_.erase(component.name()) != 0 && state == State::kError) configuration_failed_ = true;
  if (state == State::kFinalized) {
    if (unfinished_.erase(component.name()) == 0 || !unfinished_.empty()) return;
    if (phase_ != ProcessPhase::kFailed) enter(ProcessPhase::kEnded);
    reports_.ended();
  } else if (phase_ == ProcessPhase::kConfiguring && unconfigured_.empty() && !configuration_failed_) {
    enter(ProcessPhase::kConfigured);
    reports_.configured();
  }
}

}  // namespace trainyard::core
