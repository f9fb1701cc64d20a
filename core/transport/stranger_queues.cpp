// SPDX-License-Identifier: Apache-2.0
#include "core/transport/stranger_queues.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainyard::core {

Stranger& StrangerQueues::add(FileDescriptor outer, Clock::time_point now) {
  Stranger& stranger = opening_.emplace_back();
  stranger.outer = std::move(outer);
  stranger.last = now + patience_;
  stranger.place = std::prev(opening_.end());
  return stranger;
}

void StrangerQueues::enqueue(Stranger& stranger, Clock::time_point now) {
  stranger.state = Stranger::State::kWaiting;
  stranger.last = now + patience_;
  knowing_.splice(knowing_.end(), opening_, stranger.place);
  waiting_.push_back(&stranger);
}

void StrangerQueues::begin_next() {
  next().state = Stranger::State::kExamined;
  waiting_.pop_front();
}

void StrangerQueues::end(Stranger& stranger) {
  if (stranger.state == Stranger::State::kWaiting) waiting_.remove(&stranger);
  over_.splice(over_.end(), stranger.state == Stranger::State::kOpening ? opening_ : knowing_, stranger.place);
  stranger.state = Stranger::State::kOver;
}

std::optional<StrangerQueues::Clock::time_point> StrangerQueues::first_deadline() const {
  if (opening_.empty() && knowing_.empty()) return {};
  auto first = Clock::time_point::max();
  for (const std::list<Stranger>* some : {&opening_, &knowing_}) {
    if (!some->empty()) first = std::min(first, some->front().last);
  }
  return first;
}

Stranger* StrangerQueues::late(Clock::time_point now) {
  for (std::list<Stranger>* some : {&opening_, &knowing_}) {
    if (!some->empty() && some->front().last <= now) return &some->front();
  }
  return nullptr;
}

}  // namespace trainyard::core
