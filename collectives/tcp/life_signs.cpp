// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/life_signs.h"

namespace trainyard::tcp {

using collectives::Answer;
using collectives::Presence;

FrameHead pong_for(std::uint64_t ping, const Answer& answer) {
  FrameHead pong{.kind = FrameKind::kPong, .number = ping};
  pong.request.count = !answer.waits ? 0 : answer.waits_for ? 1 : 2;
  pong.request.member = answer.waits_for.value_or(0);
  return pong;
}

void LifeSigns::hear(const FrameHead& head, std::uint32_t members) {
  if (head.kind != FrameKind::kPing && head.kind != FrameKind::kPong) ++frames_;
  if (head.kind == FrameKind::kGoodbye) left_ = true;
  if (head.kind != FrameKind::kPong) return;
  pong_ = head.number;
  answer_ = {.waits = head.request.count > 0, .waits_for = {}};
  if (head.request.count == 1 && head.request.member < members) answer_.waits_for = head.request.member;
}

// A member sends its goodbye over the control stream, but data that it sent earlier over other streams can arrive
// later, so it counts as gone only when those streams have ended. The streams of a member that fails end in any order.
// If a data stream breaks first, the control stream gets some time to deliver the reason.
Presence LifeSigns::presence() {
  if (left_) return link_.data_ended() ? Presence::kLeft : Presence::kHere;
  if (link_.control->connection().closed()) return Presence::kLost;
  if (!link_.data_broken()) return Presence::kHere;
  const auto now = std::chrono::steady_clock::now();
  if (!data_broken_since_) data_broken_since_ = now;
  return now - *data_broken_since_ < kLastWords ? Presence::kHere : Presence::kLost;
}

std::uint64_t LifeSigns::signs() const {
  std::uint64_t signs = frames_;
  for (const auto& stream : link_.data) signs += stream->connection().moved();
  return signs;
}

std::optional<Answer> LifeSigns::answer_to(std::uint64_t ping) const {
  if (pong_ != ping) return {};
  return answer_;
}

bool LifeSigns::has_heard(std::uint64_t ping) const {
  return pong_ == ping || left_ || link_.control->connection().closed();
}

}  // namespace trainyard::tcp
