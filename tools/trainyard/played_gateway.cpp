// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/played_gateway.h"

#include <algorithm>

namespace trainyard::tools {
namespace {

/// How often visitors that have disconnected without a message are removed.
constexpr std::chrono::milliseconds kSweepInterval{1000};

}  // namespace

MessageType played_type(const std::string& schema_text) {
  MessageType type;
  type.name = schema_text.substr(0, schema_text.find(' '));
  type.schema_text = schema_text;
  type.fingerprint = fingerprint(schema_text);
  type.encode = [](const void* message, std::string& body, std::vector<Buffer>& payloads) {
    const auto& played = *static_cast<const PlayedMessage*>(message);
    body += played.body;
    payloads.insert(payloads.end(), played.payloads.begin(), played.payloads.end());
  };
  return type;
}

class PlayedGateway::TopicOutput final : public OutputBase {
 public:
  TopicOutput(Component& owner, const std::string& topic, const MessageType& type)
      : OutputBase(owner, topic, "recorded messages", type, {.topic = topic}) {}
};

PlayedGateway::PlayedGateway(Component& owner, zmq::context_t& context, const std::string& address)
    : owner_(owner), door_(context, address, door_owner()) {
  owner_.loop().add(door_);
  owner_.loop().add(door_.connections());
  sweep();
}

PlayedGateway::~PlayedGateway() {
  owner_.loop().cancel(timer_);
  owner_.loop().remove(door_.connections());
  owner_.loop().remove(door_);
}

void PlayedGateway::sweep() {
  door_.sweep();
  timer_ = owner_.loop().after(kSweepInterval, [this] { sweep(); });
}

core::VisitorDoor::Owner PlayedGateway::door_owner() {
  return {.find = [this](const std::string& topic) -> OutputBase* {
            const auto found = topics_.find(topic);
            return found == topics_.end() ? nullptr : found->second.output.get();
          },
          .joined =
              [this](core::VisitorEdge& edge) {
                Topic& topic = topics_.at(edge.topic());
                topic.edges.push_back(&edge);
                if (topic.last.message != nullptr) edge.send(topic.last);
              },
          .left = [this](core::VisitorEdge& edge) { std::erase(topics_.at(edge.topic()).edges, &edge); }};
}

void PlayedGateway::add_topic(const std::string& topic, const MessageType& type, bool latched) {
  topics_[topic] = {.output = std::make_unique<TopicOutput>(owner_, topic, type), .latched = latched};
}

void PlayedGateway::publish(const std::string& name, core::Envelope envelope) {
  Topic& topic = topics_.at(name);
  envelope.type = &topic.output->type();
  // The size includes the payloads, because messages that wait for a slow visitor keep them in memory.
  for (const Buffer& payload : static_cast<const PlayedMessage*>(envelope.message.get())->payloads) {
    envelope.bytes += payload.size();
  }
  if (topic.latched) topic.last = envelope;
  door_.send(envelope, topic.edges);
}

bool PlayedGateway::has_visitors() const {
  return std::ranges::any_of(topics_, [](const auto& topic) { return !topic.second.edges.empty(); });
}

}  // namespace trainyard::tools
