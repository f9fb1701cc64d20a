// SPDX-License-Identifier: Apache-2.0
#include "core/component/state_port.h"

#include <utility>

#include "core/component/component.h"
#include "core/state/packed_tensors.h"
#include "messages/component_name.h"

namespace trainyard {
namespace {

// The state is saved under the name without the rank, because a resumed run may have a different number of ranks.
std::string state_owner(const Component& component) { return without_rank(component.name(), component.context().rank); }

}  // namespace

StatePort::StatePort(Component& owner, Take take)
    : owner_(owner),
      take_(std::move(take)),
      restored_(
          owner, "restored_states", "the state of the checkpoint that the run resumes",
          [this](const auto& message) { this->take(*message); },
          InputOptions{.optional = true, .topic = "/restored_states"}),
      taken_(owner, "states_taken", "the component has taken its part of the restored state",
             {.topic = "/states_taken"}) {}

StatePort::StatePort(Component& owner, Save save, Restore restore)
    : StatePort(owner, [&owner, restore = std::move(restore)](const RestoredStates& restored) {
        const StateReader reader(restored, state_owner(owner), owner.context().rank);
        if (!reader.empty()) restore(reader);
        return std::vector{state_owner(owner)};
      }) {
  save_ = std::move(save);
  asked_.emplace(
      owner, "state_request", "a request for the component's state, for a checkpoint",
      [this](const auto& message) { answer(*message); }, InputOptions{.optional = true, .topic = "/state_request"});
  answers_.emplace(owner, "state", "the component's state, for a checkpoint", OutputOptions{.topic = "/states"});
}

void StatePort::answer(const StateRequest& request) {
  StateWriter writer(state_owner(owner_), owner_.context().rank);
  save_(writer);
  std::vector<SavedState> states = writer.take();
  fit_into_message(states);
  answers_->send(StateAnswer{.order = request.order, .component = owner_.name(), .states = std::move(states)});
}

void StatePort::take(const RestoredStates& restored) {
  taken_.send(StatesTaken{.component = owner_.name(), .owners = take_(restored)});
}

}  // namespace trainyard
