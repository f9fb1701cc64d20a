// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/rank_pause.h"

namespace trainyard::host {

void RankPause::want(std::uint64_t order) {
  turnstile_.close();
  state_ = State::kWanted;
  order_ = order;
}

std::optional<std::uint64_t> RankPause::come_to_rest() {
  if (!wanted() || !turnstile_.at_rest()) return {};
  turnstile_.reopen();
  state_ = State::kResting;
  return order_;
}

void RankPause::go_on() {
  if (resting()) state_ = State::kWorking;
}

}  // namespace trainyard::host
