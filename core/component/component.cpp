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

/// Runs `action` and reports any exception through fail(), because an exception of a plugin must not end the process
/// without an error message.
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

// This is the whole life cycle, with one hook for each change of state. A component may alternate between active and
// inactive; every other change can happen only once.
void Component::transition(State target) {
  const core::BusyScope busy(loop().activity(), *this);
  const State from = state_;
  try {
    if (from == State::kUnconfigured && target == State::kInactive) {
      // The constructor cannot check this, because the members that declare the parameters are constructed after it.
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
  // The state is set before messages that were kept are delivered, so that their handlers see an active component.
  if (target == State::kActive) {
    was_active_ = true;
    release_held();
  }
}

// The components of a training run send messages in a circle. Whatever the order of activation, some component
// therefore receives a message before it is active, and this message must wait.
bool Component::held() const {
  if (!was_active_) return true;
  return std::ranges::any_of(outputs_, [](const OutputBase* output) { return output->blocked(); });
}

// Messages that are already kept go first, so messages of an edge are never reordered.
void Component::deliver(core::Delivery delivery) {
  if (!held_.empty() || held()) {
    held_.push_back(std::move(delivery));
  } else {
    dispatch(delivery);
  }
}

void Component::dispatch(const core::Delivery& delivery) {
  // The credit of a message that is put aside is not returned yet, so the sender must wait if the input stays paused.
  if (delivery.input->put_aside(delivery)) return;
  // A failed or finalized component discards the message but still returns its credit, so that other components need
  // not wait for it.
  if (state_ == State::kActive || state_ == State::kInactive) {
    // Messages that the handler sends get the trace of the message that it handles.
    loop().set_trace(delivery.envelope.trace);
    const core::BusyScope busy(loop().activity(), *this, &delivery.envelope);
    run_guarded(*this, [&] { delivery.input->handle(delivery.envelope); });
  }
  delivery.receiver->consumed(delivery.envelope);
}

// held() is called again for every message, since each handler may block an output.
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
  was_active_ = true;  // Messages that were kept are now let through and discarded.
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

// An input that is a declared port adds itself to its owner's list, which is therefore in the order of declaration.
InputBase::InputBase(Component& owner, std::string name, std::string help, const MessageType& type,
                     InputOptions options)
    : InputBase(owner, std::move(name), std::move(help), type, std::move(options), Unlisted{}) {
  owner.inputs_.push_back(this);
}

// While resume() delivers messages, new messages are put aside behind the earlier ones.
bool InputBase::put_aside(const core::Delivery& delivery) {
  if (!paused_ && (resuming_ || aside_.empty())) return false;
  aside_.push_back(delivery);
  return true;
}

void InputBase::resume() {
  paused_ = false;
  if (resuming_) return;  // The loop below is running: one of its handlers has made this call.
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

// The answer may come after this function has returned, so it is stored in memory that the callback shares.
std::string ServiceBase::call(const std::string& json) {
  const auto answer = std::make_shared<std::string>();
  serve(json, [answer](std::string text) { *answer = std::move(text); });
  return *answer;
}

}  // namespace trainyard
