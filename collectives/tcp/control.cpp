// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/control.h"

#include <algorithm>
#include <cstring>

#include "messages/printable.h"

namespace trainyard::tcp {
namespace {

using collectives::Answer;
using collectives::Failure;
using collectives::Presence;

/// The room in a queue that only frames without a body, and failures, may use.
constexpr std::size_t kReserve = 32 << 10;
constexpr std::size_t kMostText = 8 << 10;
/// How many operations or messages are finished before the other member is told, if nothing else is sent to it.
constexpr std::uint64_t kTellAfter = Slots::kCount / 4;

Bytes bytes_of(const FrameHead& head) { return std::as_bytes(std::span(&head, 1)); }

/// Calls `action` for every other member.
template <class Action>
void for_others(const Links& links, const Action& action) {
  for (std::uint32_t member = 0; member < links.size(); ++member) {
    if (member != links.own()) action(member);
  }
}

}  // namespace

bool Slots::put(std::uint64_t number, std::uint64_t finished, const Request& request, Bytes body) {
  if (number != last_ + 1 || number > finished + kCount || body.size() > bytes_) return false;
  if (slots_.empty()) {
    slots_.resize(kCount);
    bodies_.resize(kCount * bytes_);
  }
  last_ = number;
  slots_[number % kCount] = {request, body.size()};
  std::ranges::copy(body, bodies_.begin() + static_cast<std::ptrdiff_t>(number % kCount * bytes_));
  return true;
}

const Request* Slots::request(std::uint64_t number) const {
  return number > last_ ? nullptr : &slots_[number % kCount].request;
}

Bytes Slots::body(std::uint64_t number) const {
  return {bodies_.data() + number % kCount * bytes_, slots_[number % kCount].size};
}

Control::Control(Links& links, std::vector<std::uint32_t> ranks, std::size_t direct_bytes)
    : links_(links), ranks_(std::move(ranks)), peers_(links.size(), Peer(direct_bytes)) {}

Links::Limits Control::limits(std::size_t direct_bytes) {
  const std::size_t body = std::max({direct_bytes, kChunkBytes, kMostText});
  const std::size_t ahead = Slots::kCount * (sizeof(FrameHead) + direct_bytes + 64);
  return {sizeof(FrameHead) + body, ahead + 8 * kChunkBytes + kReserve};
}

void Control::receive() {
  links_.look(std::chrono::milliseconds(0));
  for_others(links_, [&](std::uint32_t member) {
    streams::FrameStream& stream = *links_.with(member).control;
    stream.flush();
    if (peers_[member].broken || !stream.connection().readable()) return;
    try {
      stream.receive([this, member](Bytes frame) { take_frame(member, frame); });
    } catch (const Error& error) {
      refuse(member, error.what());
    }
    tell_progress(member);
    stream.flush();
  });
}

void Control::take_frame(std::uint32_t member, Bytes frame) {
  if (peers_[member].broken) return;
  FrameHead head;
  if (frame.size() >= sizeof head) std::memcpy(&head, frame.data(), sizeof head);
  if (frame.size() >= sizeof head && handle(member, head, frame.subspan(sizeof head))) return;
  refuse(member, links_.with(member).control->connection().name() + " sent a frame that it may not send now");
}

// Nothing that this member sends from now on is believed, but the others are still told.
void Control::refuse(std::uint32_t member, const std::string& why) {
  peers_[member].broken = true;
  if (told_) return;
  told_ = Failure{Code::kCorrupt, printable_line(why)};
  tell(*told_);
}

bool Control::handle(std::uint32_t member, const FrameHead& head, Bytes body) {
  Peer& peer = peers_[member];
  if (head.kind != FrameKind::kPing && head.kind != FrameKind::kPong) ++peer.frames;
  peer.done = std::max(peer.done, head.done);
  peer.taken = std::max(peer.taken, head.taken);
  switch (head.kind) {
    case FrameKind::kAsked:
      return peer.asked.put(head.number, done_, head.request, body);
    case FrameKind::kDone:
      return true;
    case FrameKind::kOffer:
      return peer.offered.put(head.number, peer.taken_here, head.request, body);
    case FrameKind::kWanted:
      peer.wanted = std::max(peer.wanted, head.number);
      return true;
    case FrameKind::kChunk:
      return handle_chunk(peer, head.number, body);
    case FrameKind::kFailed: {
      const std::string text(reinterpret_cast<const char*>(body.data()), body.size());
      if (head.code > static_cast<std::uint32_t>(Code::kInternal)) return false;
      if (!told_) told_ = Failure{static_cast<Code>(head.code), printable_line(text)};
      return true;
    }
    case FrameKind::kPing: {
      FrameHead pong{.kind = FrameKind::kPong, .number = head.number};
      pong.request.count = !answer_.waits ? 0 : answer_.waits_for ? 1 : 2;
      pong.request.member = answer_.waits_for.value_or(0);
      send_if_room(member, pong);
      return true;
    }
    case FrameKind::kPong:
      peer.pong = head.number;
      peer.answer = {.waits = head.request.count > 0, .waits_for = {}};
      if (head.request.count == 1 && head.request.member < size()) peer.answer.waits_for = head.request.member;
      return true;
    case FrameKind::kGoodbye:
      peer.left = true;
      return true;
  }
  return false;
}

bool Control::handle_chunk(Peer& peer, std::uint64_t number, Bytes body) {
  if (peer.incoming.empty()) return number <= peer.incoming_number;  // It is no longer wanted.
  if (number != peer.incoming_number || body.empty() || body.size() > peer.incoming.size()) return false;
  std::ranges::copy(body, peer.incoming.begin());
  peer.incoming = peer.incoming.subspan(body.size());
  return true;
}

std::optional<Failure> Control::told() {
  if (told_) stop_everything();
  return std::exchange(told_, {});
}

// The memory of messages under way belongs to callers that now get an error.
void Control::stop_everything() {
  for (Peer& peer : peers_) peer.incoming = {};
}

void Control::tell(const Failure& failure) {
  stop_everything();
  const FrameHead head{.kind = FrameKind::kFailed, .code = static_cast<std::uint32_t>(failure.code)};
  const auto text = std::as_bytes(std::span(failure.text).first(std::min(failure.text.size(), kMostText)));
  for_others(links_, [&](std::uint32_t member) {
    if (links_.with(member).control->has_room(sizeof head + text.size())) send(member, head, text);
  });
}

void Control::send(std::uint32_t member, FrameHead head, Bytes body) {
  Peer& peer = peers_[member];
  head.done = peer.told_done = done_;
  head.taken = peer.told_taken = peer.taken_here;
  links_.with(member).control->push(bytes_of(head), body);
  links_.with(member).control->flush();
}

bool Control::send_if_room(std::uint32_t member, const FrameHead& head) {
  if (!links_.with(member).control->has_room(sizeof head)) return false;
  send(member, head);
  return true;
}

bool Control::has_room(std::uint32_t member, std::size_t bytes) const {
  return links_.with(member).control->has_room(sizeof(FrameHead) + bytes + kReserve);
}

bool Control::may_ask(std::uint32_t member, std::uint64_t number, std::size_t bytes) const {
  return number <= peers_[member].done + Slots::kCount && has_room(member, bytes);
}

void Control::ask(std::uint32_t member, std::uint64_t number, const Request& request, Bytes body) {
  send(member, {.kind = FrameKind::kAsked, .number = number, .request = request}, body);
}

void Control::finish(std::uint64_t number) {
  done_ = number;
  for_others(links_, [&](std::uint32_t member) { tell_progress(member); });
}

void Control::tell_progress(std::uint32_t member) {
  const Peer& peer = peers_[member];
  if (done_ - peer.told_done < kTellAfter && peer.taken_here - peer.told_taken < kTellAfter) return;
  send_if_room(member, {.kind = FrameKind::kDone});
}

bool Control::may_offer(std::uint32_t member, std::uint64_t number, std::size_t bytes) const {
  return number <= peers_[member].taken + Slots::kCount && has_room(member, bytes);
}

void Control::offer(std::uint32_t member, std::uint64_t number, const Request& request, Bytes body) {
  send(member, {.kind = FrameKind::kOffer, .number = number, .request = request}, body);
}

std::size_t Control::send_chunk(std::uint32_t member, std::uint64_t number, Bytes bytes) {
  bytes = bytes.first(std::min(bytes.size(), kChunkBytes));
  if (!has_room(member, bytes.size())) return 0;
  send(member, {.kind = FrameKind::kChunk, .number = number}, bytes);
  return bytes.size();
}

bool Control::want(std::uint32_t member, std::uint64_t number, std::span<std::byte> into) {
  if (!send_if_room(member, {.kind = FrameKind::kWanted, .number = number})) return false;
  peers_[member].incoming = into;
  peers_[member].incoming_number = number;
  return true;
}

void Control::take(std::uint32_t member, std::uint64_t number) {
  peers_[member].taken_here = number;
  tell_progress(member);
}

// A member says goodbye before it closes its streams, but what it has sent before may arrive later on other streams.
// The streams of a member that fails end in any order, too. So the control stream is given time to say why.
Presence Control::presence(std::uint32_t member) {
  const Link& link = links_.with(member);
  Peer& peer = peers_[member];
  if (peer.left) return link.data_ended() ? Presence::kLeft : Presence::kHere;
  if (link.control->connection().closed()) return Presence::kLost;
  if (!link.data_broken()) return Presence::kHere;
  const auto now = std::chrono::steady_clock::now();
  if (!peer.data_broken_since) peer.data_broken_since = now;
  return now - *peer.data_broken_since < kLastWords ? Presence::kHere : Presence::kLost;
}

std::uint64_t Control::signs(std::uint32_t member) const {
  std::uint64_t signs = peers_[member].frames;
  for (const auto& stream : links_.with(member).data) signs += stream->connection().moved();
  return signs;
}

void Control::ping(std::uint64_t number) {
  for_others(links_, [&](std::uint32_t member) { send_if_room(member, {.kind = FrameKind::kPing, .number = number}); });
}

std::optional<Answer> Control::answer_to(std::uint64_t number, std::uint32_t member) const {
  if (peers_[member].pong != number) return {};
  return peers_[member].answer;
}

void Control::say_goodbye() {
  for_others(links_, [&](std::uint32_t member) { send_if_room(member, {.kind = FrameKind::kGoodbye}); });
}

bool Control::all_know(std::uint64_t ping) const {
  bool all = true;
  for_others(links_, [&](std::uint32_t member) {
    const Peer& peer = peers_[member];
    all &= peer.pong == ping || peer.left || peer.broken || links_.with(member).control->connection().closed();
  });
  return all;
}

}  // namespace trainyard::tcp
