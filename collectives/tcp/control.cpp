// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/control.h"

#include <algorithm>
#include <cstring>

#include "messages/printable.h"

namespace trainyard::tcp {
namespace {

using collectives::Failure;

constexpr std::size_t kMostText = 8 << 10;

/// Calls `action` for every other member.
template <class Action>
void for_others(const Links& links, const Action& action) {
  for (std::uint32_t member = 0; member < links.size(); ++member) {
    if (member != links.own()) action(member);
  }
}

}  // namespace

Control::Control(Links& links, std::vector<std::uint32_t> ranks, std::size_t direct_bytes)
    : links_(links), ranks_(std::move(ranks)), state_{.members = links.size()}, members_(links.size()) {
  for_others(links_, [&](std::uint32_t member) {
    members_[member].peer = std::make_unique<Peer>(links_.with(member), state_, direct_bytes);
  });
}

Links::Limits Control::limits(std::size_t direct_bytes) {
  const std::size_t body = std::max({direct_bytes, Mailbox::kChunkBytes, kMostText});
  const std::size_t ahead = Slots::kCount * (sizeof(FrameHead) + direct_bytes + 64);
  return {sizeof(FrameHead) + body, ahead + 8 * Mailbox::kChunkBytes + Line::kReserve};
}

void Control::receive() {
  links_.look(std::chrono::milliseconds(0));
  for_others(links_, [this](std::uint32_t member) { receive_from(member); });
}

void Control::receive_from(std::uint32_t member) {
  Line& line = with(member).line();
  line.stream().flush();
  if (members_[member].refused || !line.stream().connection().readable()) return;
  try {
    line.stream().receive([this, member](Bytes frame) { take_frame(member, frame); });
  } catch (const Error& error) {
    refuse(member, error.what());
  }
  line.tell_progress();
  line.stream().flush();
}

void Control::take_frame(std::uint32_t member, Bytes frame) {
  if (members_[member].refused) return;
  FrameHead head;
  if (frame.size() >= sizeof head) {
    std::memcpy(&head, frame.data(), sizeof head);
    const Bytes body = frame.subspan(sizeof head);
    if (head.kind == FrameKind::kFailed ? take_failure(head, body) : with(member).take_frame(head, body)) return;
  }
  refuse(member, links_.with(member).control->connection().name() + " sent a frame that it may not send now");
}

bool Control::take_failure(const FrameHead& head, Bytes text) {
  if (head.code > static_cast<std::uint32_t>(Code::kInternal)) return false;
  const std::string words(reinterpret_cast<const char*>(text.data()), text.size());
  if (!told_) told_ = Failure{static_cast<Code>(head.code), printable_line(words)};
  return true;
}

// All further frames of `member` are ignored. The failure is still reported to all members.
void Control::refuse(std::uint32_t member, const std::string& why) {
  members_[member].refused = true;
  if (told_) return;
  told_ = Failure{Code::kCorrupt, printable_line(why)};
  tell(*told_);
}

std::optional<Failure> Control::told() {
  if (told_) stop_everything();
  return std::exchange(told_, {});
}

// The callers that wait for messages now get an error and may free their memory, so nothing may be received into it.
void Control::stop_everything() {
  for_others(links_, [this](std::uint32_t member) { with(member).mailbox().stop_wanting(); });
}

// A failure may use the space that Line::kReserve reserves.
void Control::tell(const Failure& failure) {
  stop_everything();
  const FrameHead head{.kind = FrameKind::kFailed, .code = static_cast<std::uint32_t>(failure.code)};
  const auto text = std::as_bytes(std::span(failure.text).first(std::min(failure.text.size(), kMostText)));
  for_others(links_, [&](std::uint32_t member) {
    Line& line = with(member).line();
    if (line.stream().has_room(sizeof head + text.size())) line.send(head, text);
  });
}

void Control::finish(std::uint64_t number) {
  state_.done = number;
  for_others(links_, [this](std::uint32_t member) { with(member).line().tell_progress(); });
}

void Control::ping(std::uint64_t number) {
  const FrameHead ping{.kind = FrameKind::kPing, .number = number};
  for_others(links_, [&](std::uint32_t member) { with(member).line().send_if_room(ping); });
}

void Control::say_goodbye() {
  const FrameHead goodbye{.kind = FrameKind::kGoodbye};
  for_others(links_, [&](std::uint32_t member) { with(member).line().send_if_room(goodbye); });
}

bool Control::all_know(std::uint64_t ping) const {
  bool all = true;
  for_others(links_,
             [&](std::uint32_t member) { all &= members_[member].refused || with(member).life().has_heard(ping); });
  return all;
}

}  // namespace trainyard::tcp
