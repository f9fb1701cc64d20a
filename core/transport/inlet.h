// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/edge/delivery.h"
#include "core/loop/event_loop.h"
#include "core/memory/shared_imports.h"
#include "core/memory/shared_ring.h"
#include "core/transport/frames.h"
#include "core/transport/ring_offer.h"
#include "core/transport/run_keys.h"
#include "messages/header.h"
#include "messages/plan.h"
#include "messages/subscription.h"

namespace trainyard::core {

class Inlet;

/// The receiving end of a remote edge. Over a socket it returns credit when half of the window is used, or after every
/// message once the sender has asked for a flush. Over a ring, where returning credit costs nothing, it does so after
/// every message.
class RemoteReceiver final : public Receiver {
 public:
  RemoteReceiver(Inlet& inlet, InputBase& input, const EdgePlan& plan, std::uint32_t subscription);

  /// Returns the credit of a handled message. Called on the inlet's loop.
  void consumed(const Envelope& envelope) override;
  /// Returns all outstanding credit at once and, from then on, after every message. Called when the sender asks for a
  /// flush.
  void flush();

  /// Makes a ring and returns the offer of it to the publisher. `loop` is the handle by which the publisher wakes this
  /// loop.
  RingOffer offer_ring(const WakeupHandle& loop);
  /// Keeps the ring if the publisher has accepted it; `sender` is then used to wake the publisher. If `sender` is null,
  /// the publisher has not accepted the ring, and it is discarded.
  void settle_ring(const WakeOffer* sender);

  /// Returns true if the ring holds a message that may be taken.
  bool has_work() const { return connected && ring_ && !ring_->empty(); }
  /// Returns the ring. Call it only while has_work() is true.
  SharedRing& ring() { return *ring_; }
  /// Wakes the sender if it has asked for room in the ring. Called after records have been taken from the ring.
  void ring_read();

  /// Hands a message to the input's component.
  void deliver(Envelope envelope);
  /// Returns true if every message that was delivered has been handled, so that nothing refers to this object.
  bool idle() const { return under_way_ == 0; }

  InputBase& input() const { return input_; }
  const EdgePlan& plan() const { return plan_; }
  /// True once the subscription has been acknowledged. Until then the ring is not read.
  bool connected = false;

 private:
  void return_credit();

  Inlet& inlet_;
  InputBase& input_;
  EdgePlan plan_;
  std::uint32_t subscription_;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  bool flushing_ = false;
  std::uint64_t under_way_ = 0;  ///< The number of messages that were delivered and have not been handled.
  std::optional<SharedRing> ring_;
  std::unique_ptr<PeerWakeup> sender_;  ///< With a ring: wakes the sender's loop.
};

/// The subscribing socket of one event loop towards one loop of another process, a DEALER. All subscriptions between
/// the two use it. Each subscription within the same host also has a ring.
///
/// Not thread-safe: the inlet and its receivers are created and used on the loop that the inlet is added to.
class Inlet final : public Source {
 public:
  /// `process_index` is the index under which shared buffers count the references of this process. `loop` is the one
  /// that the inlet is added to. With keys, the inlet presents itself as a member of the run; without keys, the address
  /// must be in the local file system.
  Inlet(zmq::context_t& context, const std::string& endpoint, std::uint32_t process_index, EventLoop& loop,
        const RunKeys& keys = {});

  /// Subscribes to the messages of an edge. The answer arrives later; see on_connected. All calls must be made before
  /// the inlet is first polled.
  void subscribe(InputBase& input, const EdgePlan& edge);

  /// Sets a callback that is called once, when every subscription has been acknowledged.
  void on_connected(std::function<void()> connected) { connected_ = std::move(connected); }
  /// Sets a callback that is called, with a human-readable text, when a subscription is refused or a message is
  /// malformed. The input's component must then fail.
  void on_error(std::function<void(InputBase&, const std::string&)> error) { error_ = std::move(error); }

  /// Returns true if every subscription has been acknowledged.
  bool connected() const;

  /// Returns true if every message that arrived here has been handled. An inlet must not be destroyed before that,
  /// because components keep messages back and return their credit later.
  bool idle() const;

  /// Returns the publisher's address.
  const std::string& endpoint() const { return endpoint_; }

  bool poll() override;
  bool has_work() const override;
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  friend class RemoteReceiver;

  void handle_control(Frames& frames);
  void acknowledge(const Subscribed& answer, const WakeOffer* sender);
  bool poll_ring(RemoteReceiver& receiver);
  void take_record(RemoteReceiver& receiver);
  void handle_data(Frames& frames);
  void open_payloads(const Header& header, Frames& frames);
  Envelope decode(const Header& header, std::span<const std::byte> body, const InputBase& input);

  std::string endpoint_;
  std::uint32_t process_index_;
  EventLoop& loop_;
  zmq::socket_t socket_;
  SharedImports imports_;
  std::vector<std::unique_ptr<RemoteReceiver>> receivers_;  ///< Indexed by subscription number.
  std::function<void()> connected_;
  std::function<void(InputBase&, const std::string&)> error_;
  Frames frames_;
  // The payloads of the message being handled. They are a member so that the memory is reused.
  std::vector<Buffer> payloads_;
};

}  // namespace trainyard::core
