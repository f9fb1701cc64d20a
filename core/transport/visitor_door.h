// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/loop/event_loop.h"
#include "core/transport/storm_trim.h"
#include "core/transport/visitor_edge.h"
#include "core/transport/visitor_socket.h"
#include "messages/subscription.h"

namespace trainyard::core {

/// The endpoint at which visitors (programs that attach to a running launch) subscribe to the topics of one process. It
/// implements the protocol of docs/wire_format.md, section 3, and limits what a visitor can request; a refusal states
/// the limit. A door is used on the event loop to which it is added.
class VisitorDoor final : public Source {
 public:
  /// The maximum number of connections that have subscriptions.
  static constexpr std::size_t kMostVisitors = 512;
  /// The maximum number of subscriptions of all connections together.
  static constexpr std::size_t kMostSubscriptions = 1024;

  /// Callbacks to the owner of the door.
  struct Owner {
    /// Returns an output that publishes the topic, or null if there is none. Its message type is the type of the topic.
    std::function<OutputBase*(const std::string& topic)> find;
    /// Called when a subscription has been accepted. After this call the owner must send the messages of the topic to
    /// the edge.
    std::function<void(VisitorEdge&)> joined;
    /// Called when a subscription has ended. After this call nothing may be sent to the edge.
    std::function<void(VisitorEdge&)> left;
    /// Called for a message that is a question to a registry (docs/wire_format.md, section 2): `way_back` contains the
    /// frames that must precede the answer, and `question` is the text. If this callback is empty, questions are
    /// ignored. While a visitor has too many unread bytes, its questions are ignored, too.
    std::function<void(const Frames& way_back, zmq::message_t& question)> question = {};
    /// Called when a message of a topic could not be encoded or sent, and was therefore dropped for a visitor. `what`
    /// is the reason. May be empty.
    std::function<void(const std::string& topic, const std::string& what)> failed = {};
    /// Called before a subscription to an existing topic is accepted, unless this callback is empty. It throws an Error
    /// to refuse the subscription; the visitor receives the text of the error.
    std::function<void(const Subscribe& request)> admit = {};
  };

  /// Binds the address. With a `key`, visitors from other hosts can connect. See the constructor of VisitorSocket for
  /// the conditions and the errors.
  VisitorDoor(zmq::context_t& context, const std::string& address, Owner owner, const Key* key = nullptr);

  const std::string& endpoint() const { return socket_.endpoint(); }
  /// Returns the source that watches the number of connections. It must be added to the event loop that polls the door.
  ConnectionLimit& connections() { return socket_.connections(); }
  /// Returns the number of connections that were refused; see VisitorSocket.
  std::uint64_t refused() const { return socket_.refused(); }

  /// Answers the question that came with `way_back` (Owner::question). Sends nothing if the visitor has too many unread
  /// bytes or has disconnected.
  void answer(const Frames& way_back, std::string text) { socket_.answer(way_back, std::move(text)); }

  /// Sends a message over the edges of several visitors. The message is encoded only once.
  void send(const Envelope& envelope, const std::vector<VisitorEdge*>& edges);

  /// Ends the subscriptions of visitors that have disconnected, and returns unused memory to the system (StormTrim).
  /// The owner must call it regularly, because it is the only check for visitors that have disconnected without
  /// unsubscribing.
  void sweep();

  /// Tells every visitor that no more messages will follow.
  void say_ended();

  /// Returns the number of bytes, summed over all visitors, that have been handed to libzmq and that it has not written
  /// to the visitors' connections yet.
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

  void handle(Frames& frames);
  void hear_question(Frames& frames);
  void subscribe(const std::string& name, const Subscribe& request);
  // Throws kUnsupported if there are too many visitors or subscriptions.
  void check_room(const std::string& name) const;
  // Checks a request and returns the answer. If the request is refused, the `error` of the answer is not empty;
  // otherwise sets `output` to the output that publishes the topic.
  Subscribed judge(const std::string& name, const Subscribe& request, OutputBase*& output) const;
  void unsubscribe(const std::string& name, std::uint32_t subscription);
  void dismiss(Visitors::iterator visitor);
  VisitorEdge* find(const std::string& name, std::uint32_t subscription);
  std::size_t subscriptions() const;

  VisitorSocket socket_;
  Owner owner_;
  EncodedMessage encoded_;
  Visitors visitors_;
  Frames incoming_;
  StormTrim trim_;
};

}  // namespace trainyard::core
