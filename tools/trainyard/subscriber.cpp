// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/subscriber.h"

#include <algorithm>

#include "core/transport/frames.h"
#include "messages/error.h"

namespace trainyard::tools {
namespace {

/// The window is large enough that a reader at a terminal never has to wait.
constexpr std::uint64_t kWindowMessages = 256;

}  // namespace

Subscriber::Subscriber(zmq::context_t& context, const std::string& topic, std::vector<std::string> endpoints)
    : topic_(topic) {
  // Several publishers of one process share a gateway, and one subscription there is enough for all of them.
  std::ranges::sort(endpoints);
  endpoints.erase(std::unique(endpoints.begin(), endpoints.end()), endpoints.end());
  for (const std::string& endpoint : endpoints) {
    core::check_address(endpoint);
    Source& source = sources_.emplace_back(Source{core::make_socket(context, zmq::socket_type::dealer), {}});
    try {
      source.socket.connect(endpoint);
    } catch (const zmq::error_t& error) {
      throw Error(Code::kIo, "cannot connect to {}: {}", endpoint, error.what());
    }
    // This does not wait: libzmq sends the message when the connection exists. next() throws a refusal.
    core::send_control(source.socket, "",
                       Subscribe{.subscription = static_cast<std::uint32_t>(sources_.size() - 1),
                                 .topic = topic,
                                 // The other fields keep their defaults: a visitor that drops the oldest messages,
                                 // without payloads.
                                 .window_messages = kWindowMessages});
  }
}

Subscriber::~Subscriber() {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    core::send_control(sources_[i].socket, "", Unsubscribe{static_cast<std::uint32_t>(i)});
  }
}

std::optional<Subscriber::Received> Subscriber::next(std::chrono::milliseconds deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  for (;;) {
    // It starts from the first one each time, because at a terminal fairness among publishers does not matter.
    for (std::uint32_t i = 0; i < sources_.size(); ++i) {
      if (auto received = take(sources_[i], i)) return received;
    }
    if (ended()) return std::nullopt;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    std::vector<zmq::pollitem_t> items;
    for (Source& source : sources_) items.push_back({source.socket.handle(), 0, ZMQ_POLLIN, 0});
    // One wait serves all publishers.
    zmq::poll(items, left);
  }
}

// Control messages are served on the way; only data ends the loop.
std::optional<Subscriber::Received> Subscriber::take(Source& source, std::uint32_t subscription) {
  std::vector<zmq::message_t> frames;
  while (core::receive_frames(source.socket, frames)) {
    if (frames.size() < 3) continue;  // This is a publisher's probe for readers that have gone.
    if (frames[0].size() == 0) {
      on_control(source, frames);
      continue;
    }
    Received received;
    received.header =
        read_header(std::as_bytes(std::span(static_cast<const char*>(frames[1].data()), frames[1].size())));
    received.body = frames[2].to_string();
    received.schema = &source.schema;
    // Credit is returned at once, for every message, which is simpler than at half of the window; no other component
    // depends on this speed.
    core::send_control(source.socket, "",
                       Credit{.subscription = subscription, .messages = 1, .bytes = received.body.size()});
    return received;
  }
  return std::nullopt;
}

bool Subscriber::ended() const { return std::ranges::all_of(sources_, &Source::ended); }

// The schema arrives before the first message, and nothing else is needed to decode the messages.
void Subscriber::on_control(Source& source, const std::vector<zmq::message_t>& frames) {
  if (frames[1].to_string_view() == Ended::kTypeName) source.ended = true;
  if (frames[1].to_string_view() != Subscribed::kTypeName) return;
  const auto answer = core::read_message<Subscribed>(frames[2]);
  if (!answer.error.empty()) {
    throw Error(Code::kNotFound, "topic '{}' cannot be subscribed: {}", topic_, answer.error);
  }
  source.schema = parse_schema(answer.schema);
}

}  // namespace trainyard::tools
