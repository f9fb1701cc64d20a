// SPDX-License-Identifier: Apache-2.0
#include "core/transport/outlet.h"

#include <algorithm>

#include "core/component/component.h"
#include "core/component/output.h"
#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard::core {

namespace {

zmq::socket_t make_members_socket(zmq::context_t& context, const std::string& address, const RunKeys& keys) {
  check_member_address(address, keys);
  zmq::socket_t socket = make_socket(context, zmq::socket_type::router);
  accept_members(context, socket, keys);
  // Only control messages arrive here.
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMaxControlBytes));
  return socket;
}

}  // namespace

// This file handles the messages that subscribers send. The messages of components are sent in remote_edge.cpp.
Outlet::Outlet(zmq::context_t& context, const std::string& bind_address, EventLoop& loop, SharedPool& pool,
               const RunKeys& keys)
    : socket_(make_members_socket(context, bind_address, keys)),
      endpoint_(bind_socket(socket_, bind_address)),
      loop_(loop),
      pool_(pool) {}

RemoteEdge& Outlet::add_edge(OutputBase& output, std::string topic, std::uint32_t id, Policy policy,
                             std::uint64_t window_messages, std::uint64_t window_bytes) {
  edges_.push_back(
      std::make_unique<RemoteEdge>(*this, output, std::move(topic), id, policy, window_messages, window_bytes));
  return *edges_.back();
}

bool Outlet::poll() {
  constexpr int kRound = 16;
  int taken = 0;
  for (; taken < kRound && receive_frames(socket_, incoming_); ++taken) {
    try {
      handle(incoming_);
    } catch (const Error&) {
      // A malformed message is ignored, so that its sender cannot disturb other subscribers.
    }
  }
  bool worked = taken != 0;
  for (std::size_t i = 0; i < edges_.size(); ++i) worked |= edges_[i]->poll_room();
  return worked;
}

// Room in a ring is the only work here that does not make the socket readable.
bool Outlet::has_work() const {
  return std::ranges::any_of(edges_, [](const auto& edge) { return edge->room_came(); });
}

void Outlet::handle(Frames& frames) {
  // The frames are the routing id, an empty frame, the name of the message type, the body and, after Subscribe, a
  // RingOffer.
  if (frames.size() < 4 || frames.size() > 5 || frames[1].size() != 0) return;
  const std::string peer = frames[0].to_string();
  const std::string kind = frames[2].to_string();
  if (kind == Subscribe::kTypeName) {
    const auto request = read_message<Subscribe>(frames[3]);
    const auto offer = frames.size() == 5 ? read_message<RingOffer>(frames[4]) : RingOffer{};
    subscribe(peer, request, frames.size() == 5 ? &offer : nullptr);
  } else if (kind == Credit::kTypeName) {
    const auto credit = read_message<Credit>(frames[3]);
    if (RemoteEdge* edge = find(peer, credit.subscription)) edge->credit(credit.messages, credit.bytes);
  } else if (kind == Unsubscribe::kTypeName) {
    RemoteEdge* edge = find(peer, read_message<Unsubscribe>(frames[3]).subscription);
    if (edge == nullptr) return;
    // The edge sends nothing until another subscriber arrives.
    edge->detach();
  }
}

// A subscription's number is unique only for its subscriber, so both are compared. The search is linear, because an
// outlet has few edges, and it is not needed to send messages.
RemoteEdge* Outlet::find(std::string_view peer, std::uint32_t subscription) {
  const auto found = std::ranges::find_if(
      edges_, [&](const auto& edge) { return edge->peer() == peer && edge->subscription() == subscription; });
  return found == edges_.end() ? nullptr : found->get();
}

// Finds the edge of a subscription that is renewed after a reconnect or, for a new subscription, the edge with the
// requested number in the plan.
RemoteEdge* Outlet::edge_for(std::string_view peer, const Subscribe& request) {
  if (RemoteEdge* known = find(peer, request.subscription)) return known;
  const auto found = std::ranges::find(edges_, request.edge, [](const auto& owned) { return owned->id(); });
  return found == edges_.end() ? nullptr : found->get();
}

void Outlet::subscribe(std::string_view peer, const Subscribe& request, const RingOffer* offer) {
  // Every subscription is answered. The answer contains the edge's message type, if the edge exists, so that the
  // subscriber can compare it with its own.
  Subscribed answer{.subscription = request.subscription, .topic = request.topic};
  RemoteEdge* edge = edge_for(peer, request);
  if (edge == nullptr) {
    answer.error = fmt::format("no topic '{}' here", request.topic);
  } else {
    const MessageType& type = edge->output().type();
    answer.type = type.name;
    answer.fingerprint = type.fingerprint;
    answer.schema = type.schema_text;
    // The answer includes the schema even if the types differ, so that the subscriber can show both schemas.
    if (request.fingerprint != 0 && request.fingerprint != type.fingerprint) answer.error = "the message types differ";
  }
  try {
    if (answer.error.empty()) edge->attach(peer, request, offer);
  } catch (const Error& error) {
    answer.error = error.what();
  }
  if (answer.error.empty() && edge->in_shared_memory()) {
    send_control(socket_, peer, answer, WakeOffer::of(loop_.wakeup_handle()));
  } else {
    send_control(socket_, peer, answer);
  }
  // Messages that waited for a subscriber are sent after the answer, which they must not overtake.
  if (answer.error.empty()) edge->on_room();
}

}  // namespace trainyard::core
