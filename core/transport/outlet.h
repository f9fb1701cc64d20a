#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <zmq.hpp>

#include "core/edge/edge.h"
#include "core/loop/event_loop.h"
#include "core/transport/frames.h"
#include "messages/subscription.h"

namespace trainyard {

class Outlet;

/// To a component of another process. Without a subscriber it has no room; with one, as much as its credits say.
class RemoteEdge final : public Edge {
 public:
  RemoteEdge(Outlet& outlet, OutputBase& output, std::string topic, std::uint32_t id, Policy policy,
             std::uint64_t window_messages, std::uint64_t window_bytes);

  bool drained() const override { return peer_.empty() || (waiting() == 0 && returned_messages_ == sent_messages_); }
  void request_flush() override;

  /// A subscriber has come (again): everything under way to the one before it is lost with it.
  void attach(std::string_view peer, const Subscribe& subscription);
  void detach();
  void credit(std::uint64_t messages, std::uint64_t bytes);

  const std::string& peer() const { return peer_; }
  std::uint32_t subscription() const { return subscription_; }
  const std::string& topic() const { return topic_; }

 private:
  bool has_room() const override;
  void transmit(const Envelope& envelope) override;
  zmq::message_t payload_frame(const Buffer& buffer, std::uint64_t& handles, std::size_t index) const;

  Outlet& outlet_;
  std::string topic_;
  std::string peer_;  ///< Routing id of the subscriber; empty = none.
  std::uint32_t subscription_ = 0;
  std::uint32_t reader_ = 0;  ///< Process number under which shared buffers count the subscriber.
  enum class Payloads { kHandle, kInline, kNone } payloads_ = Payloads::kNone;
  std::uint64_t sent_messages_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t returned_messages_ = 0;
  std::uint64_t returned_bytes_ = 0;
};

/// The publishing socket of one event loop: a ROUTER to which every subscriber of its outputs connects.
class Outlet final : public Source {
 public:
  Outlet(zmq::context_t& context, const std::string& bind_address);

  /// The address to connect to.
  const std::string& endpoint() const { return endpoint_; }

  RemoteEdge& add_edge(OutputBase& output, std::string topic, std::uint32_t id, Policy policy,
                       std::uint64_t window_messages, std::uint64_t window_bytes);
  void remove_edge(RemoteEdge& edge);

  /// Asked for a subscription that is not in the plan. Returns the edge, or null to refuse with `error`.
  using Visitor = std::function<RemoteEdge*(const Subscribe&, std::string& error)>;
  void on_visitor(Visitor visitor) { visitor_ = std::move(visitor); }
  /// A visitor's edge is of no use any more; the callee removes it.
  void on_visitor_gone(std::function<void(RemoteEdge&)> gone) { visitor_gone_ = std::move(gone); }

  /// Removes the edges of visitors that are gone. To be called now and then: a visitor without credit is never sent to,
  /// so its going would not be noticed otherwise.
  void sweep_visitors();

  const std::vector<std::unique_ptr<RemoteEdge>>& edges() const { return edges_; }

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  friend class RemoteEdge;

  void handle(Frames& frames);
  void subscribe(std::string_view peer, const Subscribe& request);
  RemoteEdge* find(std::string_view peer, std::uint32_t subscription);

  zmq::socket_t socket_;
  std::string endpoint_;
  std::vector<std::unique_ptr<RemoteEdge>> edges_;
  Visitor visitor_;
  std::function<void(RemoteEdge&)> visitor_gone_;

  // Reused by every message.
  Frames incoming_;
  Frames outgoing_;
  std::string body_;
  std::vector<Buffer> payloads_;
};

/// Edge id of subscriptions that are not in the plan.
constexpr std::uint32_t kVisitorEdge = 0xffff'ffff;

}  // namespace trainyard
