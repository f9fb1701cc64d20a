// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/line.h"

#include <algorithm>

#include "collectives/tcp/slots.h"

namespace trainyard::tcp {
namespace {

/// After so many finished operations or messages, a frame is sent just to report them to the other member.
constexpr std::uint64_t kTellAfter = Slots::kCount / 4;

}  // namespace

void Line::send(FrameHead head, Bytes body) {
  head.done = told_done_ = done_here_;
  head.taken = told_taken_ = taken_here_;
  stream_.push(std::as_bytes(std::span(&head, 1)), body);
  stream_.flush();
}

bool Line::send_if_room(const FrameHead& head) {
  if (!stream_.has_room(sizeof head)) return false;
  send(head);
  return true;
}

void Line::hear(const FrameHead& head) {
  done_ = std::max(done_, head.done);
  taken_ = std::max(taken_, head.taken);
}

void Line::take(std::uint64_t number) {
  taken_here_ = number;
  tell_progress();
}

void Line::tell_progress() {
  if (done_here_ - told_done_ < kTellAfter && taken_here_ - told_taken_ < kTellAfter) return;
  send_if_room({.kind = FrameKind::kDone});
}

}  // namespace trainyard::tcp
