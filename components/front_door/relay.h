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

/// Passes the messages of the run's topics to the visitors of the front door (programs that attach to the run from
/// other hosts), as if this process published all topics. It receives a topic only while a visitor has subscribed to
/// it, and only once for all visitors, so the processes of the run need to send each message only once.
class Relay {
 public:
  /// The maximum number of connections to the processes of the run. There are fewer if they would need more than half
  /// of the file descriptors that this process may open.
  static constexpr std::size_t kMostLinks = 4096;

  /// Everything happens on `loop`.
  Relay(core::EventLoop& loop, zmq::context_t& context);
  ~Relay();

  /// Sets the topics that exist and the addresses at which they are published. `topics` is the answer of the run's
  /// registry (the socket at which the launcher answers questions) to the question `topics`. Also stops receiving the
  /// topics to which no visitor is subscribed any longer. Must be called at regular intervals, but not while a message
  /// is being passed on.
  void locate(const nlohmann::json& topics);

  /// Returns the callbacks with which the VisitorDoor, the object that serves visitors, must be made. The caller must
  /// set the callback `question`; all others are set.
  core::VisitorDoor::Owner door_owner();
  /// Sets the VisitorDoor through which messages are sent. It must have been made with the result of door_owner(). Must
  /// be called before the event loop polls the door.
  void serve(core::VisitorDoor& door) { door_ = &door; }

 private:
  /// Identifies a component that publishes: the address of its process, and the index of the component.
  using Publisher = std::pair<std::string, std::uint32_t>;

  /// One topic in one of two forms: with the bytes of tensors in its messages, or without.
  struct Channel {
    std::unique_ptr<Feed> feed;
    std::vector<core::VisitorEdge*> edges;
    std::map<Publisher, core::Envelope> last;  ///< If the topic is latched, the last message of each publisher.
    /// Used if every process numbers the messages of the topic separately: the number that the next message of each
    /// publisher should have, and the number that the relay gives to the next message.
    std::map<Publisher, std::uint64_t> expected;
    std::uint64_t next_sequence = 0;
  };
  /// A placeholder component, which does not belong to the run. Its only output describes the topic to the VisitorDoor
  /// (the object that serves visitors); no message is sent through this output.
  class Voice;
  struct Topic {
    std::string schema;
    MessageType type;
    std::unique_ptr<Voice> voice;
    bool latched = false;
    /// True if the messages on the topic are numbered by each process and not by each component, as on /log.
    bool of_processes = false;
    std::set<std::string> endpoints;
    Channel plain, inlined;
  };

  void locate_one(const nlohmann::json& described);
  // Throws kUnsupported if the subscription would need more connections than are allowed.
  void check_links(const Subscribe& request) const;
  void join(core::VisitorEdge& edge);
  void leave(core::VisitorEdge& edge);
  // Replaces the number that a process has given to a message by a consecutive number of this relay. If messages of the
  // process are missing before it, leaves an equally large gap.
  static void number_anew(Channel& channel, const Publisher& publisher, core::Envelope& envelope);
  void pass_on(Topic& topic, Channel& channel, visitors::Received message);

  core::EventLoop& loop_;
  zmq::context_t& context_;
  std::size_t most_links_;
  core::VisitorDoor* door_ = nullptr;
  std::map<std::string, std::unique_ptr<Topic>> topics_;
};

}  // namespace trainyard::front_door
