// SPDX-License-Identifier: Apache-2.0
#include "visitors/gateway_link.h"

#include <algorithm>
#include <chrono>

#include "core/transport/socket_monitor.h"
#include "messages/error.h"
#include "messages/limits.h"
#include "visitors/door.h"

namespace trainyard::visitors {
namespace {

constexpr int kEvents = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CONNECT_RETRIED;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::uint64_t bytes_of(const Received& message) {
  std::uint64_t bytes = message.body.size();
  for (const zmq::message_t& payload : message.payloads) bytes += payload.size();
  return bytes;
}

}  // namespace

GatewayLink::GatewayLink(zmq::context_t& context, std::string endpoint, std::vector<Stream*> streams,
                         ListenOptions options)
    : endpoint_(std::move(endpoint)),
      options_(std::move(options)),
      socket_(core::make_socket(context, zmq::socket_type::dealer)),
      monitor_(core::monitor_of(context, socket_, kEvents)) {
  if (streams.size() > kMaxVisitorSubscriptions) {
    throw Error(Code::kInternal, "{} subscriptions on one connection; at most {} are allowed", streams.size(),
                kMaxVisitorSubscriptions);
  }
  for (Stream* stream : streams) subscriptions_.push_back({.stream = stream});
  connect_visitor(socket_, endpoint_);
}

GatewayLink::~GatewayLink() {
  for (std::uint32_t i = 0; connected_ && i < subscriptions_.size(); ++i) {
    if (!subscriptions_[i].ended) core::send_control(socket_, "", Unsubscribe{i});
  }
  core::end_monitor(socket_);
}

void GatewayLink::add_to(std::vector<zmq::pollitem_t>& items) {
  items.push_back({socket_.handle(), 0, ZMQ_POLLIN, 0});
  items.push_back({monitor_.handle(), 0, ZMQ_POLLIN, 0});
}

bool GatewayLink::ended() const { return std::ranges::all_of(subscriptions_, &Subscription::ended); }

// Handles the control messages that have arrived, and returns at the first data message.
std::optional<Received> GatewayLink::take() {
  serve_monitor();
  while (core::receive_frames(socket_, frames_)) {
    if (frames_.size() < 3) continue;  // With this message, a publisher finds out whether the reader still exists.
    if (frames_[0].size() == 0) {
      on_control(frames_);
    } else if (auto received = on_data(frames_)) {
      return received;
    }
  }
  return std::nullopt;
}

bool GatewayLink::subscribed() const { return std::ranges::all_of(subscriptions_, &Subscription::answered); }

// The interval before the next attempt to connect reaches kLastRetry only for front doors. For runs on this host this
// is not needed, because is_alive() checks the launcher.
void GatewayLink::serve_monitor() {
  while (const auto event = core::next_event(monitor_)) {
    if (event->number == ZMQ_EVENT_CONNECT_RETRIED) {
      if (event->value < kLastRetry || ended()) continue;
      throw Error(Code::kPeerLost, "the connection to {} is lost, and nobody answers there", endpoint_);
    }
    connected_ = event->number == ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
    if (connected_) subscribe();
  }
}

// Subscribes to all streams. The window of a new subscription is unused, so the counts of messages to report start at
// zero.
void GatewayLink::subscribe() {
  for (std::uint32_t i = 0; i < subscriptions_.size(); ++i) {
    Subscription& subscription = subscriptions_[i];
    subscription.answered = subscription.flushing = subscription.ended = false;
    subscription.messages = subscription.bytes = 0;
    core::send_control(socket_, "",
                       Subscribe{.subscription = i,
                                 .topic = subscription.stream->topic,
                                 .policy = options_.policy,
                                 .window_messages = options_.window_messages,
                                 .window_bytes = options_.window_bytes,
                                 .payloads = options_.payloads});
  }
}

void GatewayLink::on_control(const core::Frames& frames) {
  const std::string_view kind = frames[1].to_string_view();
  if (kind == Subscribed::kTypeName) {
    on_answer(core::read_message<Subscribed>(frames[2]));
  } else if (kind == Ended::kTypeName) {
    if (Subscription* subscription = find(core::read_message<Ended>(frames[2]).subscription))
      subscription->ended = true;
  } else if (kind == Flush::kTypeName) {
    const std::uint32_t number = core::read_message<Flush>(frames[2]).subscription;
    if (Subscription* subscription = find(number)) {
      subscription->flushing = true;
      return_credit(*subscription, number);
    }
  }
}

// Keeps the schema, which arrives before the first message and is all that is needed to decode messages.
void GatewayLink::on_answer(const Subscribed& answer) {
  Subscription* subscription = find(answer.subscription);
  if (subscription == nullptr) return;
  Stream& stream = *subscription->stream;
  if (!answer.error.empty()) {
    throw Error(Code::kNotFound, "topic '{}' cannot be subscribed: {}", stream.topic, answer.error);
  }
  if (stream.fingerprint != 0 && stream.fingerprint != answer.fingerprint) {
    throw Error(Code::kCorrupt, "the publishers of topic '{}' disagree about its type: {} and {}", stream.topic,
                stream.type, answer.type);
  }
  if (stream.fingerprint == 0) {
    stream.schema = parse_schema(answer.schema);
    stream.type = answer.type;
    stream.fingerprint = answer.fingerprint;
    stream.schema_text = answer.schema;
  }
  subscription->answered = true;
}

GatewayLink::Subscription* GatewayLink::find(std::uint32_t number) {
  return number < subscriptions_.size() ? &subscriptions_[number] : nullptr;
}

std::optional<Received> GatewayLink::on_data(core::Frames& frames) {
  Received received;
  received.header = read_header(std::as_bytes(std::span(static_cast<const char*>(frames[1].data()), frames[1].size())));
  Subscription* subscription = find(received.header.subscription);
  if (subscription == nullptr || !subscription->answered) return std::nullopt;
  if (received.header.fingerprint != subscription->stream->fingerprint) {
    throw Error(Code::kCorrupt, "a message on topic '{}' has another type than was announced",
                subscription->stream->topic);
  }
  received.body = std::move(frames[2]);
  for (std::size_t i = 3; i < frames.size(); ++i) received.payloads.push_back(std::move(frames[i]));
  received.stream = subscription->stream;
  received.endpoint = &endpoint_;
  received.arrival_time_ns = now_ns();
  count(*subscription, received.header);
  ++subscription->messages;
  subscription->bytes += bytes_of(received);
  if (subscription->flushing || subscription->messages * 2 >= options_.window_messages ||
      subscription->bytes * 2 >= options_.window_bytes) {
    return_credit(*subscription, received.header.subscription);
  }
  return received;
}

// A sequence number that is smaller than expected is no gap: a process that is started again counts from 0.
void GatewayLink::count(Subscription& subscription, const Header& header) {
  ++subscription.stream->arrived;
  const auto [next, first] = subscription.next_sequence.try_emplace(header.source, header.sequence);
  if (!first && header.sequence > next->second) subscription.stream->missed += header.sequence - next->second;
  next->second = header.sequence + 1;
}

void GatewayLink::return_credit(Subscription& subscription, std::uint32_t number) {
  if (subscription.messages == 0) return;
  core::send_control(socket_, "",
                     Credit{.subscription = number, .messages = subscription.messages, .bytes = subscription.bytes});
  subscription.messages = subscription.bytes = 0;
}

}  // namespace trainyard::visitors
