// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/component_states.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/component/component.h"
#include "core/component/partners.h"
#include "messages/error.h"

namespace trainyard {

ComponentStates::ComponentStates(Component& owner)
    : owner_(owner),
      request_(owner, "state_request", "a request for the component's state, for a checkpoint",
               {.topic = "/state_request"}),
      restored_(owner, "restored_states", "the state of the checkpoint that the run resumes",
                {.topic = "/restored_states"}),
      answers_(owner, "states", "state of components", [this](const auto& message) { on_answer(*message); },
               {.optional = true, .topic = "/states", .every_rank = true}),
      taken_(owner, "states_taken", "components have restored their state",
             [this](const auto& message) { on_taken(*message); },
             {.optional = true, .topic = "/states_taken", .every_rank = true}) {}

void ComponentStates::start_clock(std::function<void()> late) {
  clock_ = owner_.loop().after(kDeadline, [this, late = std::move(late)] {
    clock_.reset();
    owner_.guarded(late);
  });
}

void ComponentStates::stop_clock() {
  if (clock_) owner_.loop().cancel(*std::exchange(clock_, {}));
}

void ComponentStates::give_back(RestoredStates states, std::function<void(const std::set<std::string>& left)> done) {
  for (const SavedState& state : states.states) left_.insert(state.owner);
  answered_.clear();
  given_back_ = std::move(done);
  if (taken_.connections() == 0) return std::exchange(given_back_, nullptr)(left_);
  restored_.send(std::move(states));
  awaited_ = taken_.connections() - core::partners_of(restored_, taken_).dead.size();
  if (awaited_ == 0) return std::exchange(given_back_, nullptr)(left_);
  start_clock([this] {
    throw Error(Code::kTimeout, "{}: of {} components that have state, only these have taken it back in {} s: {}",
                owner_.where(), awaited_, kDeadline.count(), fmt::join(answered_, ", "));
  });
}

void ComponentStates::on_taken(const StatesTaken& taken) {
  for (const std::string& owner : taken.owners) left_.erase(owner);
  if (!given_back_ || !answered_.insert(taken.component).second || answered_.size() < awaited_) return;
  stop_clock();
  std::exchange(given_back_, nullptr)(left_);
}

void ComponentStates::collect(std::uint64_t order, std::uint64_t step, Collected done) {
  if (answers_.connections() == 0) return done({}, "");
  order_ = order;
  answered_.clear();
  states_.clear();
  collected_ = std::move(done);
  request_.send(StateRequest{.order = order, .step = step});
  const std::size_t dead = core::partners_of(request_, answers_).dead.size();
  awaited_ = answers_.connections() - dead;
  if (dead > 0) {
    owner_.context().log->warn(
        "the checkpoint of step {} lacks the state of {} of {} components, whose processes have ended", step, dead,
        answers_.connections());
  }
  if (awaited_ == 0) return std::exchange(collected_, nullptr)({}, "");
  start_clock([this] {
    give_up(fmt::format("of {} components that have state, only these have given it in {} s: {}", awaited_,
                        kDeadline.count(), fmt::join(answered_, ", ")));
  });
}

void ComponentStates::on_answer(const StateAnswer& answer) {
  if (!collected_ || answer.order != order_) return;  // The answer comes too late.
  if (!answered_.insert(answer.component).second) return;
  // State that is the same on all ranks is saved only once.
  std::ranges::copy_if(answer.states, std::back_inserter(states_),
                       [](const SavedState& state) { return state.per_rank || state.rank == 0; });
  if (answered_.size() < awaited_) return;
  stop_clock();
  std::exchange(collected_, nullptr)(std::move(states_), "");
}

void ComponentStates::give_up(const std::string& error) {
  if (!collected_) return;
  stop_clock();
  std::exchange(collected_, nullptr)({}, error);
}

}  // namespace trainyard
