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

/// A message of a recording in its binary form.
struct PlayedMessage {
  std::string body;
  std::vector<Buffer> payloads;
};

/// Returns a message type for messages that are PlayedMessage objects.
MessageType played_type(const std::string& schema_text);

/// The gateway of one process of a played recording. Visitors subscribe to it as to that of a running process.
class PlayedGateway {
 public:
  /// Binds the address, and serves visitors on the loop of `owner`. Throws kIo.
  PlayedGateway(Component& owner, zmq::context_t& context, const std::string& address);
  ~PlayedGateway();

  const std::string& endpoint() const { return door_.endpoint(); }

  /// Adds a topic; `type` must outlive the gateway. If `latched`, visitors that subscribe later get the last message.
  void add_topic(const std::string& topic, const MessageType& type, bool latched);

  /// Sends a message to all visitors of the topic. Its type and size are filled in.
  void publish(const std::string& topic, core::Envelope envelope);

  /// Tells every visitor that no more messages follow.
  void finish() { door_.say_ended(); }
  /// Returns true if a visitor has subscribed.
  bool has_visitors() const;
  /// Returns true if everything that was sent has been written to the connections.
  bool delivered() const { return door_.unread() == 0; }

 private:
  /// The door describes topics by outputs. Messages do not pass through this one.
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
