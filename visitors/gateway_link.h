// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/transport/frames.h"
#include "messages/subscription.h"
#include "visitors/stream.h"

namespace trainyard::visitors {

/// One connection of a visitor to the gateway of one process, with its subscriptions. It subscribes again whenever a
/// connection has been made anew, for example because the process was restarted. It returns credit when half of the
/// window is used. It never waits: the caller polls the sockets.
class GatewayLink {
 public:
  /// Connects to the gateway and subscribes to `streams`, which must outlive this object; at most 64 of them
  /// (kMaxVisitorSubscriptions). Throws kIo, and kUnsupported for an address beyond this host.
  GatewayLink(zmq::context_t& context, std::string endpoint, std::vector<Stream*> streams, ListenOptions options);
  /// Unsubscribes, so that the publisher sends nothing more.
  ~GatewayLink();
  GatewayLink(const GatewayLink&) = delete;
  GatewayLink& operator=(const GatewayLink&) = delete;

  const std::string& endpoint() const { return endpoint_; }

  /// Returns the next message that has arrived, or nothing. Throws kNotFound if the publisher refuses a subscription,
  /// and kCorrupt if it sends a malformed message.
  std::optional<Received> take();

  /// Appends what must be polled so that take() is called in time.
  void add_to(std::vector<zmq::pollitem_t>& items);

  /// Returns true when the publisher has said of every subscription that no more messages follow, and take() has
  /// returned all messages before that.
  bool ended() const;

  /// Returns true when the publisher has accepted every subscription, so that no further message is missed unnoticed.
  bool subscribed() const;

  /// Returns true while the process cannot be reached: before the first connection, and after a connection was lost.
  bool disconnected() const { return !connected_; }

 private:
  struct Subscription {
    Stream* stream = nullptr;
    /// True once the publisher has accepted this subscription. Data that arrives earlier belongs to a previous
    /// connection.
    bool answered = false;
    bool flushing = false;
    bool ended = false;
    std::uint64_t messages = 0;  ///< The number of handled messages whose credit has not been returned yet.
    std::uint64_t bytes = 0;
    /// The sequence number that is expected next, for each sending component.
    std::map<std::uint32_t, std::uint64_t> next_sequence;
  };

  void serve_monitor();
  void subscribe();
  void on_control(const core::Frames& frames);
  void on_answer(const Subscribed& answer);
  // Returns the subscription of this number if it is one of ours.
  Subscription* find(std::uint32_t number);
  std::optional<Received> on_data(core::Frames& frames);
  void count(Subscription& subscription, const Header& header);
  void return_credit(Subscription& subscription, std::uint32_t number);

  std::string endpoint_;
  ListenOptions options_;
  std::vector<Subscription> subscriptions_;
  zmq::socket_t socket_;
  zmq::socket_t monitor_;
  bool connected_ = false;
  core::Frames frames_;
};

}  // namespace trainyard::visitors
