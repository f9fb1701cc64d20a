// SPDX-License-Identifier: Apache-2.0
#include "components/front_door/relay.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/transport/connection_limit.h"
#include "core/transport/frames.h"
#include "messages/error.h"
#include "messages/log_record.h"
#include "messages/schema.h"
#include "messages/spans.h"
#include "visitors/json_fields.h"

namespace trainyard::front_door {
namespace {

/// A message that is passed on without decoding it.
struct RelayedMessage {
  std::string body;
  std::vector<Buffer> payloads;
};

MessageType relayed_type(const std::string& schema) {
  MessageType type;
  type.name = schema.substr(0, schema.find(' '));
  type.schema_text = schema;
  type.fingerprint = fingerprint(schema);
  type.encode = [](const void* message, std::string& body, std::vector<Buffer>& payloads) {
    const auto& relayed = *static_cast<const RelayedMessage*>(message);
    body += relayed.body;
    payloads.insert(payloads.end(), relayed.payloads.begin(), relayed.payloads.end());
  };
  return type;
}

core::Envelope envelope_of(visitors::Received message, const MessageType& type) {
  auto relayed = std::make_shared<RelayedMessage>();
  relayed->body = message.body.to_string();
  core::Envelope envelope{.type = &type,
                          .sequence = message.header.sequence,
                          .send_time_ns = message.header.send_time_ns,
                          .trace = message.header.trace,
                          .bytes = relayed->body.size(),
                          .source = message.header.source};
  for (zmq::message_t& payload : message.payloads) {
    envelope.bytes += payload.size();
    relayed->payloads.push_back(core::buffer_of(std::move(payload)));
  }
  envelope.message = std::move(relayed);
  return envelope;
}

}  // namespace

class Relay::Voice final : public Component {
 public:
  Voice(ComponentContext context, const std::string& topic, const MessageType& type)
      : Component(context), output_(*this, topic, type) {}

  OutputBase& output() { return output_; }

 private:
  class TopicOutput final : public OutputBase {
   public:
    TopicOutput(Component& owner, const std::string& topic, const MessageType& type)
        : OutputBase(owner, topic, "relayed messages", type, {.topic = topic}) {}
  };

  TopicOutput output_;
};

// A link takes four descriptors: one for each of its sockets, and one for the connection itself.
Relay::Relay(core::EventLoop& loop, zmq::context_t& context)
    : loop_(loop),
      context_(context),
      most_links_(std::min(kMostLinks, core::raise_descriptor_limit() / 2 / (visitors::GatewayLink::kSockets + 1))) {}

Relay::~Relay() = default;

core::VisitorDoor::Owner Relay::door_owner() {
  return {.find = [this](const std::string& name) -> OutputBase* {
            const auto topic = topics_.find(name);
            return topic == topics_.end() ? nullptr : &topic->second->voice->output();
          },
          .joined = [this](core::VisitorEdge& edge) { join(edge); },
          .left = [this](core::VisitorEdge& edge) { leave(edge); },
          .admit = [this](const Subscribe& request) { check_links(request); }};
}

void Relay::check_links(const Subscribe& request) const {
  const Topic& topic = *topics_.at(request.topic);
  const Channel& channel = request.payloads == "inline" ? topic.inlined : topic.plain;
  if (channel.feed != nullptr) return;
  std::size_t links = 0;
  for (const auto& [name, each] : topics_) {
    for (const Channel* other : {&each->plain, &each->inlined}) {
      if (other->feed != nullptr) links += other->feed->links();
    }
  }
  if (links + topic.endpoints.size() <= most_links_) return;
  throw Error(Code::kUnsupported,
              "the front door has {} connections to the processes of the run, and this subscription needs {} more; at "
              "most {} are allowed",
              links, topic.endpoints.size(), most_links_);
}

void Relay::locate(const nlohmann::json& topics) {
  std::set<std::string> there;
  for (const auto& topic : topics) {
    if (!topic.is_object()) continue;
    locate_one(topic);
    there.insert(visitors::text_in(topic, "topic"));
  }
  for (auto& [name, topic] : topics_) {
    if (!there.contains(name)) topic->endpoints.clear();
    for (Channel* channel : {&topic->plain, &topic->inlined}) {
      // If no visitor wants the topic any more, stops receiving it.
      if (channel->edges.empty()) *channel = {};
      if (channel->feed != nullptr) channel->feed->follow(topic->endpoints);
    }
  }
  std::erase_if(topics_, [&](const auto& topic) {
    return !there.contains(topic.first) && topic.second->plain.edges.empty() && topic.second->inlined.edges.empty();
  });
}

// Updates one topic. Its type must not change while a visitor listens to it. A topic that a visitor publishes can end
// and later appear again with another type.
void Relay::locate_one(const nlohmann::json& described) {
  const std::string schema = visitors::text_in(described, "schema");
  const std::string name = visitors::text_in(described, "topic");
  std::unique_ptr<Topic>& topic = topics_[name];
  const bool used = topic != nullptr && !(topic->plain.edges.empty() && topic->inlined.edges.empty());
  if (topic == nullptr || (topic->schema != schema && !used)) {
    topic = std::make_unique<Topic>();
    topic->schema = schema;
    topic->of_processes = name == kLogTopic || is_topic_of_spans(name);
    topic->type = relayed_type(schema);
    ComponentContext context;
    context.where = "the front door";
    context.parameters = "{}";
    context.loop = &loop_;
    topic->voice = std::make_unique<Voice>(std::move(context), name, topic->type);
  }
  const auto latched = described.find("latched");
  topic->latched = latched != described.end() && *latched == nlohmann::json(true);
  topic->endpoints.clear();
  const auto publishers = described.find("publishers");
  if (publishers == described.end()) return;
  for (const auto& publisher : *publishers) {
    // The endpoint is empty while the process starts.
    std::string endpoint = publisher.is_object() ? visitors::text_in(publisher, "endpoint") : "";
    if (!endpoint.empty()) topic->endpoints.insert(std::move(endpoint));
  }
}

void Relay::join(core::VisitorEdge& edge) {
  Topic& topic = *topics_.at(edge.topic());
  Channel& channel = edge.inline_payloads() ? topic.inlined : topic.plain;
  channel.edges.push_back(&edge);
  for (const auto& [publisher, envelope] : channel.last) edge.send(envelope);
  if (channel.feed != nullptr) return;
  channel.feed = std::make_unique<Feed>(
      loop_, context_, edge.topic(), edge.inline_payloads() ? "inline" : "none",
      [this, &topic, &channel](visitors::Received message) { pass_on(topic, channel, std::move(message)); });
  channel.feed->follow(topic.endpoints);
}

// The feed is removed only in locate(), because the event loop may be polling it now.
void Relay::leave(core::VisitorEdge& edge) {
  Topic& topic = *topics_.at(edge.topic());
  std::erase(edge.inline_payloads() ? topic.inlined.edges : topic.plain.edges, &edge);
}

void Relay::number_anew(Channel& channel, const Publisher& publisher, core::Envelope& envelope) {
  const auto expected = channel.expected.try_emplace(publisher, envelope.sequence).first;
  // If the number is smaller than expected, the process has been started again, so nothing is missing.
  if (envelope.sequence > expected->second) channel.next_sequence += envelope.sequence - expected->second;
  expected->second = envelope.sequence + 1;
  envelope.sequence = channel.next_sequence++;
}

void Relay::pass_on(Topic& topic, Channel& channel, visitors::Received message) {
  const Publisher publisher(*message.endpoint, message.header.source);
  core::Envelope envelope = envelope_of(std::move(message), topic.type);
  if (topic.of_processes) number_anew(channel, publisher, envelope);
  if (topic.latched) channel.last[publisher] = envelope;
  door_->send(envelope, channel.edges);
}

}  // namespace trainyard::front_door
