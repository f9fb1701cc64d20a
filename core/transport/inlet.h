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
#include "messages/header.h"
#include "messages/plan.h"
#include "messages/subscription.h"

namespace trainyard {

class Inlet;

/// The receiving end of a remote edge. Over a socket it returns credit at half of the window, or after every message
/// once the sender asked for a flush; in a ring, where that costs nothing, after every message.
class RemoteReceiver final : public Receiver {
 public:
  RemoteReceiver(Inlet& inlet, InputBase& input, const EdgePlan& plan, std::uint32_t subscription);

  /// On the loop of the inlet.
  void consumed(const Envelope& envelope) override;
  /// The sender has asked for all credit, now and after every message.
  void flush();

  /// Makes the ring to be offered.
  RingOffer offer_ring(const WakeupHandle& loop);
  /// The publisher takes the ring, and is to be woken like this; or (null) it does not.
  void settle_ring(const WakeOffer* sender);

  /// True if a message lies in the ring and may be taken.
  bool has_work() const { return connected && ring_ && !ring_->empty(); }
  /// Only while has_work().
  SharedRing& ring() { return *ring_; }
  /// Tells the sender that there is room in the ring, if it wants to know.
  void ring_read();

  InputBase& input() const { return input_; }
  const EdgePlan& plan() const { return plan_; }
  /// The subscription has been acknowledged; before that nothing in the ring is looked at.
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
  std::optional<SharedRing> ring_;
  std::unique_ptr<PeerWakeup> sender_;  ///< With a ring: the loop at its other end.
};

/// The subscribing socket of one event loop towards one loop of another process: a DEALER. It carries all subscriptions
/// between the two, and each of the same host has a ring besides.
///
/// Not thread-safe: made on and used by the loop that it is added to, like everything below it.
class Inlet final : public Source {
 public:
  /// `process_index`: this process, under which it holds shared buffers. `loop` is the one that this inlet is added to.
  Inlet(zmq::context_t& context, const std::string& endpoint, std::uint32_t process_index, EventLoop& loop);

  /// Asks for the messages of an edge. Not answered at once: see on_connected. All calls come before the inlet is
  /// polled.
  void subscribe(InputBase& input, const EdgePlan& edge);

  /// Called once, when every subscription has been acknowledged.
  void on_connected(std::function<void()> connected) { connected_ = std::move(connected); }
  /// Called when a subscription is refused or a message breaks the format. The text is for people; the input's
  /// component can do nothing but fail.
  void on_error(std::function<void(InputBase&, const std::string&)> error) { error_ = std::move(error); }

  /// Whether that has happened.
  bool connected() const;

  /// The address that it was connected to.
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
  std::vector<std::unique_ptr<RemoteReceiver>> receivers_;  ///< By subscription number.
  std::function<void()> connected_;
  std::function<void(InputBase&, const std::string&)> error_;
  Frames frames_;
  // Of the message in hand; a member, so that its memory is reused.
  std::vector<Buffer> payloads_;
};

}  // namespace trainyard
