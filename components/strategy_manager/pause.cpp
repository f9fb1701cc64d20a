// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/pause.h"

#include "messages/error.h"

namespace trainyard::manager {

void Pause::want() {
  if (state_ == State::kLeaving) {
    state_ = State::kResting;  // The order to continue has not been sent yet.
  } else if (state_ == State::kWorking) {
    state_ = State::kWanted;
  }
  ends_at_once_ = false;
}

void Pause::end() {
  if (state_ == State::kWanted) state_ = State::kWorking;
  if (state_ == State::kResting) state_ = State::kLeaving;
  ends_at_once_ = state_ == State::kComing;
}

std::optional<OrderKind> Pause::next(std::uint64_t id) {
  if (state_ == State::kWanted) {
    state_ = State::kComing;
    id_ = id;
    answers_ = 0;
    return OrderKind::kPause;
  }
  if (state_ != State::kLeaving) return {};
  state_ = State::kWorking;
  return OrderKind::kGoOn;
}

bool Pause::answered(const OrderDone& done) {
  if (state_ != State::kComing || done.order != id_) return false;
  if (answers_ == 0) all_steps_ = done.all_steps;
  if (all_steps_ != done.all_steps) {
    throw Error(Code::kInternal,
                "ranks rest after different steps: one has made or skipped {} steps, another {} (it is at step {})",
                all_steps_, done.all_steps, done.step);
  }
  if (++answers_ == ranks_) state_ = ends_at_once_ ? State::kLeaving : State::kResting;
  return true;
}

}  // namespace trainyard::manager
