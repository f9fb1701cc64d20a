// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/mailbox.h"

#include <algorithm>

namespace trainyard::tcp {

bool Mailbox::may_offer(std::uint64_t number, std::size_t bytes) const {
  return number <= line_.taken() + Slots::kCount && line_.has_room(bytes);
}

void Mailbox::offer(std::uint64_t number, const Request& request, Bytes body) {
  line_.send({.kind = FrameKind::kOffer, .number = number, .request = request}, body);
}

std::size_t Mailbox::send_chunk(std::uint64_t number, Bytes bytes) {
  bytes = bytes.first(std::min(bytes.size(), kChunkBytes));
  if (!line_.has_room(bytes.size())) return 0;
  line_.send({.kind = FrameKind::kChunk, .number = number}, bytes);
  return bytes.size();
}

bool Mailbox::want(std::uint64_t number, std::span<std::byte> into) {
  if (!line_.send_if_room({.kind = FrameKind::kWanted, .number = number})) return false;
  incoming_ = into;
  incoming_number_ = number;
  return true;
}

bool Mailbox::hear_offer(const FrameHead& head, Bytes body) {
  return offered_.put(head.number, line_.taken_here(), head.request, body);
}

void Mailbox::hear_wanted(std::uint64_t number) { wanted_ = std::max(wanted_, number); }

bool Mailbox::hear_chunk(std::uint64_t number, Bytes body) {
  if (incoming_.empty()) return number <= incoming_number_;  // This member has stopped waiting for it.
  if (number != incoming_number_ || body.empty() || body.size() > incoming_.size()) return false;
  std::ranges::copy(body, incoming_.begin());
  incoming_ = incoming_.subspan(body.size());
  return true;
}

}  // namespace trainyard::tcp
