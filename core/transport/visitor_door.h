// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/loop/event_loop.h"
#include "core/transport/visitor_edge.h"
#include "core/transport/visitor_socket.h"
#include "messages/subscription.h"

namespace trainyard::core {

/// Where the visitors of one process subscribe. It serves the protocol of docs/wire_format.md, section 3, and bounds
/// what a visitor can ask for; refusals say what is allowed. It is used on one event loop.
class VisitorDoor final : public Source {
 public:
  /// The maximum number of connections that have subscriptions, and of the subscriptions of all of them together.
  static constexpr std::size_t kMostVisitors = 512;
  static constexpr std::size_t kMostSubscriptions = 1024;

  /// Callbacks to the owner of the door.
  struct Owner {
    /// Returns an output that publishes the topic, or null. Its type is that of the topic.
    std::function<OutputBase*(const std::string& topic)> find;
    /// Called when a subscription has been accepted. From then on the owner sends the messages of the topic to the
    /// edge.
    std::function<void(VisitorEdge&)> joined;
    /// Called when a subscription has ended. From then on nothing may be sent to the edge.
    std::function<void(VisitorEdge&)> left;
  };

  /// Binds the address. Throws kIo.
  VisitorDoor(zmq::context_t& context, const std::string& address, Owner owner);

  const std::string& endpoint() const { return socket_.endpoint(); }
  /// Returns the source that watches the number of connections, which must be added to the same loop.
  Source& connections() { return socket_.connections(); }

  /// Sends a message to several visitors and encodes it only once.
  void send(const Envelope& envelope, const std::vector<VisitorEdge*>& edges);

  /// Ends the subscriptions of visitors that are gone, and returns their memory to the system. It must be called from
  /// time to time, because nothing else reveals that a visitor that only listens has gone.
  void sweep();

  /// Tells every visitor that no more messages will follow.
  void say_ended();

  /// Returns the number of bytes that were sent to all visitors together and have not been written to their
  /// connections.
  std::uint64_t unread() const { return socket_.ledger().unread(); }

  /// Calls `see` for every subscription.
  void each(const std::function<void(const VisitorEdge&)>& see) const;

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<VisitorSocket&>(socket_).handle(); }

 private:
  struct Visitor {
    std::shared_ptr<VisitorAccount> account;
    std::vector<std::unique_ptr<VisitorEdge>> edges;
  };
  using Visitors = std::map<std::string, Visitor>;

  void handle(const Frames& frames);
  void subscribe(const std::string& name, const Subscribe& request);
  // Throws kUnsupported if there are too many visitors or subscriptions.
  void check_room(const std::string& name) const;
  // Returns the answer; its `error` says whether the request is refused.
  Subscribed judge(const std::string& name, const Subscribe& request, OutputBase*& output) const;
  void unsubscribe(const std::string& name, std::uint32_t subscription);
  void dismiss(Visitors::iterator visitor);
  VisitorEdge* find(const std::string& name, std::uint32_t subscription);
  std::size_t subscriptions() const;
  void give_memory_back();

  VisitorSocket socket_;
  Owner owner_;
  EncodedMessage encoded_;
  Visitors visitors_;
  Frames incoming_;
  std::uint64_t received_ = 0;  ///< The number of messages received since the last sweep.
  bool stormy_ = false;         ///< True if visitors used much memory at the last sweep.
};

}  // namespace trainyard::core
