// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
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
#include "core/transport/connection_watch.h"
#include "core/transport/frames.h"
#include "core/transport/ring_offer.h"
#include "core/transport/run_keys.h"
#include "messages/header.h"
#include "messages/plan.h"
#include "messages/subscription.h"

namespace trainyard::core {

class Inlet;

/// The receiving end of an edge (a connection from an output to an input) from another process. Messages arrive over a
/// socket or, from a process of the same host, over a ring in shared memory. Over a socket, the receiver returns credit
/// (the sender's right to send more messages) when it has handled half of the messages or bytes that may be in flight,
/// or after every message once the sender has requested a flush. Over a ring, it returns credit after every message,
/// because this costs almost nothing.
class RemoteReceiver final : public Receiver {
 public:
  RemoteReceiver(Inlet& inlet, InputBase& input, const EdgePlan& plan, std::uint32_t subscription);

  /// Records that a message has been handled, and returns credit to the sender if it is time to do so. Called on the
  /// inlet's loop.
  void consumed(const Envelope& envelope) override;
  /// Returns the credit for all handled messages now, and from now on the credit for each message as soon as it has
  /// been handled. Called when the sender requests a flush.
  void flush();

  /// Makes a ring and returns a message that offers this ring to the publisher. `loop` is the handle with which the
  /// publisher can wake the loop of the receiver.
  RingOffer offer_ring(const WakeupHandle& loop);
  /// Records the publisher's answer to the offer of a ring. If the publisher has accepted the ring, `sender` is the
  /// offer with which this side can wake the publisher's loop. If `sender` is null, the publisher has not accepted the
  /// ring, and the ring is discarded.
  void settle_ring(const WakeOffer* sender);

  /// Begins the subscription anew after a reconnect: the publisher counts the credit from zero again.
  void renew();
  /// Records that the connection has been lost, if the subscription had been acknowledged.
  void connection_lost() { interrupted_ = connected; }
  /// Returns true if the connection was lost after the subscription had been acknowledged, so that messages may be
  /// missing.
  bool interrupted() const { return interrupted_; }

  /// Returns true if the ring holds a message that may be taken.
  bool has_work() const { return connected && ring_ && !ring_->empty(); }
  /// Returns the ring through which the messages arrive. Call this function only while has_work() is true.
  SharedRing& ring() { return *ring_; }
  /// Wakes the sender if it waits for room in the ring. The caller must call this after it has taken records from the
  /// ring.
  void ring_read();

  /// Passes a message to the input's component.
  void deliver(Envelope envelope);
  /// Returns true if every message that was delivered has been handled, so nothing refers to this object.
  bool idle() const { return under_way_ == 0; }

  InputBase& input() const { return input_; }
  const EdgePlan& plan() const { return plan_; }
  /// True if the subscription has been acknowledged. Becomes false again if a message in the ring is malformed. While
  /// this is false, the ring is not read.
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
  bool interrupted_ = false;
  std::uint64_t under_way_ = 0;  ///< The number of messages that were delivered and have not been handled.
  std::optional<SharedRing> ring_;
  std::unique_ptr<PeerWakeup> sender_;  ///< Wakes the sender's loop. Exists only if there is a ring.
};

/// A subscribing socket of an event loop: a DEALER that is connected to one event loop of another process. All
/// subscriptions between the two loops use this socket. For an edge whose transport is not `tcp`, the subscription also
/// offers the publisher a ring in shared memory for the messages, unless the index of this process is too large
/// (SharedPool::kMaxProcesses).
///
/// If the connection is lost although the publisher's process lives, the messages that were under way are lost. When
/// there is a connection again, the inlet therefore renews the subscriptions whose messages may be lost: those to the
/// outputs of a gateway, and those of the policies `latest` and `drop_oldest`. An edge with the policy `block` must not
/// lose messages, so it ends the run with an error.
///
/// Not thread-safe: the inlet and its receivers are created and used on the loop to which the inlet is added.
class Inlet final : public Source {
 public:
  /// After the loss of a connection, the launcher has this much time to report that the publisher's process has died. A
  /// process that has much memory, on the host or on devices, may take several seconds to end.
  static constexpr std::chrono::milliseconds kPatience{30'000};

  /// Connects to the publisher at `endpoint`, which need not be listening yet. `process_index` is this process's index
  /// in the plan, under which shared buffers count its references. `loop` is the loop to which the inlet is added. With
  /// keys, the inlet authenticates itself as a process of the run; without keys, the address must be ipc or inproc.
  /// `patience` is the time after which a lost connection is an error.
  Inlet(zmq::context_t& context, const std::string& endpoint, std::uint32_t process_index, EventLoop& loop,
        const RunKeys& keys = {}, std::chrono::milliseconds patience = kPatience);

  /// Subscribes `input` to the messages of an edge. The answer arrives later; see on_connected(). Do not call
  /// subscribe() after the inlet has been polled for the first time.
  void subscribe(InputBase& input, const EdgePlan& edge);

  /// Sets a callback that is called once, when every subscription has been acknowledged.
  void on_connected(std::function<void()> connected) { connected_ = std::move(connected); }
  /// Sets a callback that is called, with the text of the error, when a subscription is refused, a message is
  /// malformed, or messages that must not be lost were lost with the connection. The callback must make the input's
  /// component fail.
  void on_error(std::function<void(InputBase&, const std::string&)> error) { error_ = std::move(error); }

  /// Returns true if every subscription has been acknowledged.
  bool connected() const;

  /// Records that the publisher's process has died. The inlet no longer reacts when its connection is lost or made
  /// again.
  void retire() { watch_.reset(); }

  /// Returns true if every message that arrived here has been handled. An inlet must not be destroyed before this is
  /// true, because components may still keep messages, and will report them to the inlet when they have handled them.
  bool idle() const;

  /// Returns the publisher's address.
  const std::string& endpoint() const { return endpoint_; }

  bool poll() override;
  bool has_work() const override;
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  friend class RemoteReceiver;

  void watch_connection();
  void send_subscribe(std::uint32_t number);
  void renew_subscriptions();
  void report_interrupted();
  void handle_control(Frames& frames);
  void acknowledge(const Subscribed& answer, const WakeOffer* sender);
  bool poll_ring(RemoteReceiver& receiver);
  void take_record(RemoteReceiver& receiver);
  void handle_data(Frames& frames);
  void open_payloads(const Header& header, Frames& frames);
  Envelope decode(const Header& header, std::span<const std::byte> body, const InputBase& input);

  zmq::context_t& context_;
  std::string endpoint_;
  std::uint32_t process_index_;
  EventLoop& loop_;
  std::chrono::milliseconds patience_;
  zmq::socket_t socket_;
  std::optional<ConnectionWatch> watch_;  ///< Exists if there is a subscription over TCP or at a gateway.
  SharedImports imports_;
  std::vector<std::unique_ptr<RemoteReceiver>> receivers_;  ///< Indexed by subscription number.
  std::function<void()> connected_;
  std::function<void(InputBase&, const std::string&)> error_;
  Frames frames_;
  // The payloads of the message being handled. The vector is a member so that its memory is reused.
  std::vector<Buffer> payloads_;
};

}  // namespace trainyard::core
