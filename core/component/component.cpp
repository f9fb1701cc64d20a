// SPDX-License-Identifier: Apache-2.0
#include "core/component/component.h"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>

#include "core/activity/loop_activity.h"
#include "core/component/boundary.h"
#include "core/edge/edge.h"
#include "core/loop/event_loop.h"
#include "core/traits/plugin_traits.h"
#include "messages/component_name.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard {
namespace {

/// Everything is caught, because an exception of a plugin must not end the process without an error message.
template <class Action>
void run_guarded(Component& component, const Action& action) {
  try {
    action();
  } catch (...) {
    component.fail(describe_current_exception());
  }
}

}  // namespace

Component::Component(ComponentContext& context, ComponentTraits traits)
    : Configurable(context.where, context.parameters), context_(context), traits_(traits) {}

Component::~Component() = default;

core::PluginTraits Component::declared_traits() const { return {traits_}; }

// The whole life cycle, with one hook for each transition. Active and inactive may alternate; nothing else can be
// repeated.
void Component::transition(State target) {
  const core::BusyScope busy(loop().activity(), *this);
  const State from = state_;
  try {
    if (from == State::kUnconfigured && target == State::kInactive) {
      // This is not done in the constructor, because members declare parameters one by one, and only now is the list
      // complete.
      check_all_given_are_known();
      on_configure();
    } else if (from == State::kInactive && target == State::kActive) {
      on_activate();
    } else if (from == State::kActive && target == State::kInactive) {
      on_deactivate();
    } else if (from == State::kInactive && target == State::kFinalized) {
      on_finalize();
    } else {
      throw Error(Code::kInternal, "{} cannot go from {} to {}", where(), name_of(from), name_of(target));
    }
  } catch (...) {
    state_ = State::kError;
    throw;
  }
  state_ = target;
  // The state is set before what was held back is delivered, so that handlers see an active component.
  if (target == State::kActive) {
    was_active_ = true;
    release_held();
  }
}

// Training is a ring of messages, so in any order of activation some component is sent a message before it is active.
// That message waits.
bool Component::held() const {
  if (!was_active_) return true;
  return std::ranges::any_of(outputs_, [](const OutputBase* output) { return output->blocked(); });
}

// What already waits goes first, so the order within an edge is never broken.
void Component::deliver(core::Delivery delivery) {
  if (!held_.empty() || held()) {
    held_.push_back(std::move(delivery));
  } else {
    dispatch(delivery);
  }
}

void Component::dispatch(const core::Delivery& delivery) {
  // A message that is put aside has not been consumed, so its credit stays with it and holds the sender back.
  if (delivery.input->put_aside(delivery)) return;
  // A failed or finalized component still returns credit, so that it cannot keep the others from ending.
  if (state_ == State::kActive || state_ == State::kInactive) {
    // What the handler sends belongs to what it handles, so the trace follows a batch through the pipeline by itself.
    loop().set_trace(delivery.envelope.trace);
    const core::BusyScope busy(loop().activity(), *this, &delivery.envelope);
    run_guarded(*this, [&] { delivery.input->handle(delivery.envelope); });
  }
  delivery.receiver->consumed(delivery.envelope);
}

// This is asked again for every message, since each handler may block an output.
void Component::release_held() {
  while (!held_.empty() && !held()) {
    const core::Delivery delivery = std::move(held_.front());
    held_.pop_front();
    dispatch(delivery);
  }
}

void Component::guarded(const std::function<void()>& action) {
  const core::BusyScope busy(loop().activity(), *this);
  run_guarded(*this, action);
}

// The component is not destroyed, so that the credit of messages to it is still returned.
void Component::fail(const std::string& what) {
  state_ = State::kError;
  was_active_ = true;  // Whatever was held back is let through and discarded.
  for (InputBase* input : inputs_) input->resume();
  if (on_error_) on_error_(what);
}

void Component::take_settings(const std::vector<Setting>& settings) {
  const std::string own = without_rank(name(), context().rank);
  for (const Setting& setting : settings) {
    ParameterBase* parameter = setting.component == own ? find_parameter(setting.parameter) : nullptr;
    if (parameter == nullptr) continue;
    if (parameter->value().dump() != setting.instead_of) {
      log().warn("{} = {}, as the launch file says now; the run that is continued had {}, set while it ran",
                 setting.parameter, parameter->value().dump(), setting.value);
      continue;
    }
    set_parameter(setting.parameter, nlohmann::json::parse(setting.value));
    log().info("{} = {}, as it was set while the run went on, instead of {}", setting.parameter, setting.value,
               setting.instead_of);
  }
}

InputBase::InputBase(Component& owner, std::string name, std::string help, const MessageType& type,
                     InputOptions options, Unlisted)
    : owner_(owner), name_(std::move(name)), help_(std::move(help)), type_(type), options_(std::move(options)) {}

// An input that is a declared port registers itself, and its owner lists ports in the order of declaration.
InputBase::InputBase(Component& owner, std::string name, std::string help, const MessageType& type,
                     InputOptions options)
    : InputBase(owner, std::move(name), std::move(help), type, std::move(options), Unlisted{}) {
  owner.inputs_.push_back(this);
}

// While resume() delivers messages, those from the queue pass; new ones line up behind them.
bool InputBase::put_aside(const core::Delivery& delivery) {
  if (!paused_ && (resuming_ || aside_.empty())) return false;
  aside_.push_back(delivery);
  return true;
}

void InputBase::resume() {
  paused_ = false;
  if (resuming_) return;  // A handler called by the loop below has called this.
  resuming_ = true;
  while (!paused_ && !aside_.empty()) {
    const core::Delivery delivery = std::move(aside_.front());
    aside_.pop_front();
    owner_.dispatch(delivery);
  }
  resuming_ = false;
}

ServiceBase::ServiceBase(Component& owner, std::string name, std::string help, const MessageType& request,
                         const MessageType& reply)
    : name_(std::move(name)), help_(std::move(help)), request_(request), reply_(reply) {
  owner.services_.push_back(this);
}

// The answer may come after this call has returned, so it has a place of its own.
std::string ServiceBase::call(const std::string& json) {
  const auto answer = std::make_shared<std::string>();
  serve(json, [answer](std::string text) { *answer = std::move(text); });
  return *answer;
}

}  // namespace trainyard
