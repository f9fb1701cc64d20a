// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "components/front_door/feed.h"
#include "core/component/component.h"
#include "core/transport/visitor_door.h"

namespace trainyard::front_door {

/// Passes the messages of the run's topics on to the visitors of a door, as if this process published all of them. It
/// listens to a topic only while visitors want it, and only once for all visitors. For the processes of the run, all
/// visitors of the door together are therefore one visitor.
class Relay {
 public:
  /// Everything happens on `loop`.
  Relay(core::EventLoop& loop, zmq::context_t& context);
  ~Relay();

  /// Sets the topics that exist and the addresses at which they are published. `topics` is the registry's list of
  /// topics. Must be called at regular intervals, but not while a message is passed on.
  void locate(const nlohmann::json& topics);

  /// Returns the functions that a door needs from its owner (VisitorDoor::Owner), except `question`.
  core::VisitorDoor::Owner door_owner();
  /// Sets the door, which must have been made with the result of door_owner(). Must be called before the loop polls the
  /// door.
  void serve(core::VisitorDoor& door) { door_ = &door; }

 private:
  /// A component that publishes: the address of its process, and its index in the plan.
  using Publisher = std::pair<std::string, std::uint32_t>;

  /// The messages of one topic, in one of two forms: with the bytes of their tensors, or without.
  struct Channel {
    std::unique_ptr<Feed> feed;
    std::vector<core::VisitorEdge*> edges;
    std::map<Publisher, core::Envelope> last;  ///< If the topic is latched, the last message of each publisher.
    /// If every process numbers the messages of the topic separately: the number that the next message of each
    /// publisher should have, and the number that the next message gets here.
    std::map<Publisher, std::uint64_t> expected;
    std::uint64_t next_sequence = 0;
  };
  /// A component that is in no plan. Its only output describes the topic to the door; no message passes through this
  /// output.
  class Voice;
  struct Topic {
    std::string schema;
    MessageType type;
    std::unique_ptr<Voice> voice;
    bool latched = false;
    bool of_processes = false;  ///< True if processes, not components, number the messages of the topic, as with /log.
    std::set<std::string> endpoints;
    Channel plain, inlined;
  };

  void locate_one(const nlohmann::json& described);
  void join(core::VisitorEdge& edge);
  void leave(core::VisitorEdge& edge);
  // Gives a message of a process a number of this door, behind a gap that is as long as the one before the message.
  static void number_anew(Channel& channel, const Publisher& publisher, core::Envelope& envelope);
  void pass_on(Topic& topic, Channel& channel, visitors::Received message);

  core::EventLoop& loop_;
  zmq::context_t& context_;
  core::VisitorDoor* door_ = nullptr;
  std::map<std::string, std::unique_ptr<Topic>> topics_;
};

}  // namespace trainyard::front_door
