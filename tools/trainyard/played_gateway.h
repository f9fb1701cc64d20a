// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/component/component.h"
#include "core/transport/visitor_door.h"

namespace trainyard::tools {

/// A recorded message in its binary form: the body, and the bytes of its tensors.
struct PlayedMessage {
  std::string body;
  std::vector<Buffer> payloads;
};

/// Returns the message type for PlayedMessage objects whose bodies have the given schema.
MessageType played_type(const std::string& schema_text);

/// A stand-in for one process of a recorded run while `bag play` plays the recording. Programs can subscribe to its
/// topics as they would to those of a running process.
class PlayedGateway {
 public:
  /// Binds the address, and serves visitors (the programs that subscribe) on the event loop of `owner`. Throws kIo if
  /// the address cannot be bound.
  PlayedGateway(Component& owner, zmq::context_t& context, const std::string& address);
  ~PlayedGateway();

  const std::string& endpoint() const { return door_.endpoint(); }

  /// Adds a topic; `type` must outlive this object. If `latched` is true, the last message is kept, and visitors that
  /// subscribe later receive it, too.
  void add_topic(const std::string& topic, const MessageType& type, bool latched);

  /// Sends a message to every visitor that is subscribed to the topic. The caller sets all members of `envelope` except
  /// `type` and `bytes`.
  void publish(const std::string& topic, core::Envelope envelope);

  /// Tells every visitor that no more messages will follow.
  void finish() { door_.say_ended(); }
  /// Returns true if at least one visitor is subscribed to a topic.
  bool has_visitors() const;
  /// Returns true if no messages are waiting to be sent to a visitor.
  bool delivered() const { return door_.unread() == 0; }

 private:
  /// An output that only describes a topic to `door_`, which requires an output. No messages pass through it.
  class TopicOutput;
  struct Topic {
    std::unique_ptr<TopicOutput> output;
    bool latched = false;
    core::Envelope last;
    std::vector<core::VisitorEdge*> edges;
  };

  core::VisitorDoor::Owner door_owner();
  void sweep();

  Component& owner_;
  std::map<std::string, Topic> topics_;
  core::VisitorDoor door_;
  core::EventLoop::TimerId timer_{};
};

}  // namespace trainyard::tools
