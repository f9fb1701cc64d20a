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

/// One connection of a visitor to the gateway of one process (the part that serves visitors), with its subscriptions.
/// It subscribes again whenever the connection is re-established, for example after a restart of the process. The
/// publisher may send only a limited number of messages and bytes, the window, before this class permits more. It
/// permits more whenever half of the window is used. No function blocks: the caller polls the sockets.
class GatewayLink {
 public:
  /// The number of sockets of the ZeroMQ context that one link takes: one for the connection, and two that report when
  /// it is made and lost.
  static constexpr std::size_t kSockets = 3;

  /// Connects to the gateway and subscribes to `streams`, which must outlive this object. There may be at most 64
  /// (kMaxVisitorSubscriptions). Throws kIo if a socket cannot be opened or connected, and kUnsupported for an address
  /// on another host, unless it is a front door (visitors/door.h).
  GatewayLink(zmq::context_t& context, std::string endpoint, std::vector<Stream*> streams, ListenOptions options);
  /// Unsubscribes, so that the publisher sends nothing more.
  ~GatewayLink();
  GatewayLink(const GatewayLink&) = delete;
  GatewayLink& operator=(const GatewayLink&) = delete;

  const std::string& endpoint() const { return endpoint_; }

  /// Returns the next message that has arrived, or nothing. Throws kNotFound if the publisher refuses a subscription,
  /// kCorrupt if it sends a malformed message, and kPeerLost if a front door no longer answers.
  std::optional<Received> take();

  /// Appends the sockets that the caller must poll. When one of them is readable, the caller must call take().
  void add_to(std::vector<zmq::pollitem_t>& items);

  /// Returns true when the publisher has announced for every subscription that no more messages will follow, and take()
  /// has returned all messages that came before the announcement.
  bool ended() const;

  /// Returns true when the publisher has accepted every subscription. From then on, Stream::missed counts messages that
  /// are lost.
  bool subscribed() const;

  /// Returns true while the process cannot be reached: before the first connection is established, and from the loss of
  /// a connection until it is re-established.
  bool disconnected() const { return !connected_; }

 private:
  struct Subscription {
    Stream* stream = nullptr;
    /// True once the publisher has accepted this subscription. Messages that arrive earlier belong to a previous
    /// connection and are ignored.
    bool answered = false;
    bool flushing = false;
    bool ended = false;
    /// The number of messages that take() has returned, but that have not been reported to the publisher yet.
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    /// The sequence number that is expected next, for each sending component.
    std::map<std::uint32_t, std::uint64_t> next_sequence;
  };

  void serve_monitor();
  void subscribe();
  void on_control(const core::Frames& frames);
  void on_answer(const Subscribed& answer);
  // Returns the subscription with this number, or nullptr if there is none.
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
