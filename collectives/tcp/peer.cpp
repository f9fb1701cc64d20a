// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/peer.h"

namespace trainyard::tcp {

bool Peer::may_ask(std::uint64_t number, std::size_t bytes) const {
  return number <= line_.done() + Slots::kCount && line_.has_room(bytes);
}

void Peer::ask(std::uint64_t number, const Request& request, Bytes body) {
  line_.send({.kind = FrameKind::kAsked, .number = number, .request = request}, body);
}

bool Peer::take_frame(const FrameHead& head, Bytes body) {
  line_.hear(head);
  life_.hear(head, own_.members);
  switch (head.kind) {
    case FrameKind::kAsked:
      return asked_.put(head.number, own_.done, head.request, body);
    case FrameKind::kOffer:
      return mailbox_.hear_offer(head, body);
    case FrameKind::kWanted:
      mailbox_.hear_wanted(head.number);
      return true;
    case FrameKind::kChunk:
      return mailbox_.hear_chunk(head.number, body);
    case FrameKind::kPing:
      line_.send_if_room(pong_for(head.number, own_.answer));
      return true;
    case FrameKind::kDone:
    case FrameKind::kPong:
    case FrameKind::kGoodbye:
      return true;
    case FrameKind::kFailed:
      break;
  }
  return false;
}

}  // namespace trainyard::tcp
