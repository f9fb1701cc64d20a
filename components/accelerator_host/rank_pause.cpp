// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/rank_pause.h"

#include <fmt/format.h>

#include "core/rendezvous/rendezvous.h"

namespace trainyard::host {

namespace {

std::string place_note(std::uint32_t rank) { return fmt::format("turnstile/place.{}", rank); }

}  // namespace

RankPause::RankPause(const PluginContext& context, std::chrono::milliseconds timeout)
    : context_(&context), timeout_(timeout), turnstile_(context, timeout) {
  context.rendezvous->put(place_note(context.rank), memory_place());
}

// Called only when the run pauses, so all ranks have published their notes (files through which ranks find each other),
// and get() returns immediately.
bool RankPause::all_are_near() {
  if (near_) return *near_;
  near_ = true;
  for (std::uint32_t rank = 0; context_ != nullptr && rank < context_->world_size; ++rank) {
    if (context_->rendezvous->get(place_note(rank), timeout_) != memory_place()) near_ = false;
  }
  return *near_;
}

void RankPause::want(std::uint64_t order) {
  if (all_are_near()) turnstile_.close();
  state_ = State::kWanted;
  order_ = order;
}

std::optional<std::uint64_t> RankPause::come_to_rest(bool idle) {
  if (!wanted()) return {};
  const bool last = all_are_near() ? turnstile_.at_rest() : idle;
  if (!last) return {};
  if (all_are_near()) turnstile_.reopen();
  state_ = State::kResting;
  return order_;
}

void RankPause::go_on() {
  if (resting()) state_ = State::kWorking;
}

}  // namespace trainyard::host
