// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "core/edge/edge.h"
#include "core/loop/event_loop.h"
#include "core/memory/shared_pool.h"
#include "core/memory/shared_ring.h"
#include "core/transport/frames.h"
#include "core/transport/ring_offer.h"
#include "core/transport/run_keys.h"
#include "messages/header.h"
#include "messages/subscription.h"

namespace trainyard::core {

class Outlet;

/// The sending end of an edge (a connection from an output to an input) to a component of another process. Without a
/// subscriber, nothing can be sent, so a blocking edge keeps its messages until there is a subscriber. With a
/// subscriber, the credit that it has returned determines how much can be sent. After receiver_gone(), messages are
/// dropped until the subscriber's process has been restarted and has subscribed again.
class RemoteEdge final : public Edge {
 public:
  RemoteEdge(Outlet& outlet, OutputBase& output, std::string topic, std::uint32_t id, Policy policy,
             std::uint64_t window_messages, std::uint64_t window_bytes);

  bool drained() const override { return peer_.empty() || (waiting() == 0 && returned_messages() == sent_messages_); }
  /// Asks the subscriber to report every handled message without delay from now on. Does nothing over a ring, because
  /// there the subscriber always does this.
  void request_flush() override;

  /// Connects a subscriber, for the first time or again. `peer` is its routing id. Messages in flight to an earlier
  /// subscriber are lost. `offer` is the RingOffer that came with the subscription, or null if there was none. The
  /// windows in `subscription` replace those of the edge. The waiting messages are not sent; call on_room() after the
  /// subscriber has been answered. Throws kPeerLost if the ring that the subscriber offers no longer exists.
  void attach(std::string_view peer, const Subscribe& subscription, const RingOffer* offer);
  /// Disconnects the subscriber. Messages in flight count as handled, so that drained() does not wait for them.
  void detach();
  /// Counts messages and bytes that the subscriber has handled, and sends the waiting messages. Used only over the
  /// socket; over a ring, the subscriber counts in shared memory.
  void credit(std::uint64_t messages, std::uint64_t bytes);

  /// If has_room() has returned false and there is room again, sends the waiting messages and returns true. Otherwise
  /// returns false.
  bool poll_room();
  /// Returns true if has_room() has returned false and there is room again.
  bool room_came() const { return starved_ && room(); }

  /// Returns true while messages are sent through a ring in shared memory.
  bool in_shared_memory() const { return ring_.has_value(); }
  /// Returns the process index of the subscriber, under which shared buffers count its references.
  std::uint32_t reader() const { return reader_; }
  /// Returns true if the subscriber has sent its pid, and this pid differs from `dead`. This distinguishes a dead
  /// subscriber from its restarted successor, which has the same process index and may already have subscribed. The two
  /// pids can be compared, because both were assigned by the subscriber's own host.
  bool has_successor_of(pid_t dead) const;

  /// Returns the routing id of the subscriber, or an empty string while there is none.
  const std::string& peer() const { return peer_; }
  std::uint32_t subscription() const { return subscription_; }
  const std::string& topic() const { return topic_; }

 private:
  bool has_room() const override;
  bool room() const;
  std::uint64_t returned_messages() const { return ring_ ? ring_->returned_messages() : returned_messages_; }
  std::uint64_t returned_bytes() const { return ring_ ? ring_->returned_bytes() : returned_bytes_; }
  void transmit(const Envelope& envelope) override;
  void transmit_frames(Header header);
  zmq::message_t payload_frame(const Buffer& buffer, std::uint64_t& handles, std::size_t index) const;

  Outlet& outlet_;
  std::string topic_;
  std::string peer_;  ///< The routing id of the subscriber; empty if there is none.
  std::uint32_t subscription_ = 0;
  std::uint32_t reader_ = 0;
  pid_t reader_pid_ = 0;  ///< The pid of the subscriber on its own host; 0 if it is unknown.
  enum class Payloads { kHandle, kInline, kNone } payloads_ = Payloads::kNone;
  std::uint64_t sent_messages_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t returned_messages_ = 0;
  std::uint64_t returned_bytes_ = 0;
  /// The current subscriber's ring. It is mutable because has_room() stores in it the request to be woken when there is
  /// room.
  mutable std::optional<SharedRing> ring_;
  std::unique_ptr<PeerWakeup> reader_loop_;  ///< Wakes the loop of the subscriber. Exists only if there is a ring.
  /// True if has_room() has found no room. When there is room again, poll_room() must then call on_room().
  mutable bool starved_ = false;
};

/// The publishing socket of one event loop, a ROUTER. Other processes of the run connect to it in order to receive
/// messages from the outputs of the loop's components. Visitors (programs that are not part of the run) connect to a
/// VisitorDoor instead. The outlet also checks whether edges with rings have room again, because no socket becomes
/// readable then.
class Outlet final : public Source {
 public:
  /// `loop` is the loop to which the outlet is added. Messages too large for a ring are stored in `pool`. With keys,
  /// only processes of the run can subscribe; without keys, the address must be ipc or inproc. Throws kIo if the
  /// address cannot be bound, and kUnsupported if it is not allowed.
  Outlet(zmq::context_t& context, const std::string& bind_address, EventLoop& loop, SharedPool& pool,
         const RunKeys& keys = {});

  /// Returns the address to connect to.
  const std::string& endpoint() const { return endpoint_; }

  /// Makes an edge that waits for its subscriber. `topic` is the full name of the topic; the other parameters are those
  /// of the constructor of Edge. The outlet owns the edge; the caller must add it to `output`.
  RemoteEdge& add_edge(OutputBase& output, std::string topic, std::uint32_t id, Policy policy,
                       std::uint64_t window_messages, std::uint64_t window_bytes);

  /// Returns the edges. The list does not change after the process has been configured.
  const std::vector<std::unique_ptr<RemoteEdge>>& edges() const { return edges_; }

  bool poll() override;
  bool has_work() const override;
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  friend class RemoteEdge;

  void handle(Frames& frames);
  void subscribe(std::string_view peer, const Subscribe& request, const RingOffer* offer);
  RemoteEdge* edge_for(std::string_view peer, const Subscribe& request);
  RemoteEdge* find(std::string_view peer, std::uint32_t subscription);

  zmq::socket_t socket_;
  std::string endpoint_;
  EventLoop& loop_;
  SharedPool& pool_;
  std::vector<std::unique_ptr<RemoteEdge>> edges_;

  // All edges share these buffers. This is possible because only one message is read or written at a time.
  Frames incoming_;
  Frames outgoing_;
  std::string body_;
  std::vector<Buffer> payloads_;
};

}  // namespace trainyard::core
