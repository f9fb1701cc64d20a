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
/// listens to a topic only while visitors want it, and only once for all of them, so the run's processes serve one
/// visitor more, however many there are.
class Relay {
 public:
  /// Everything happens on `loop`.
  Relay(core::EventLoop& loop, zmq::context_t& context);
  ~Relay();

  /// Takes the registry's list of topics, which says what there is and where. Must be called at regular intervals. Must
  /// not be called while a message is passed on.
  void locate(const nlohmann::json& topics);

  /// Returns what a door needs of its owner (VisitorDoor::Owner), without `question`.
  core::VisitorDoor::Owner door_owner();
  /// Sets the door, which was made with door_owner(). Must be called before the loop runs it.
  void serve(core::VisitorDoor& door) { door_ = &door; }

 private:
  /// The address of a process, and the number of a component in the plan.
  using Publisher = std::pair<std::string, std::uint32_t>;

  /// The messages of one topic, with the bytes of their tensors or without.
  struct Channel {
    std::unique_ptr<Feed> feed;
    std::vector<core::VisitorEdge*> edges;
    std::map<Publisher, core::Envelope> last;  ///< Of a latched topic: the last message of each publisher.
    /// Of a topic on which every process numbers its own messages: the number that each is expected to use next, and
    /// the next one here.
    std::map<Publisher, std::uint64_t> expected;
    std::uint64_t next_sequence = 0;
  };
  /// A component, in no plan, with the one output by which the door describes a topic. Messages do not pass through it.
  class Voice;
  struct Topic {
    std::string schema;
    MessageType type;
    std::unique_ptr<Voice> voice;
    bool latched = false;
    bool of_processes = false;  ///< Its messages are not numbered by components, as those of /log.
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
