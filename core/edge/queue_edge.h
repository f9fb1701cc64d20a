// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "core/edge/collector.h"
#include "core/edge/delivery.h"
#include "core/edge/edge.h"
#include "core/loop/event_loop.h"
#include "core/loop/spsc_ring.h"

namespace trainyard::core {

/// The edge (connection from an output to an input) between two event loops of one process. Messages are passed through
/// a lock-free ring. Credit, the right to send more, is returned through two counters, of the messages and of the bytes
/// that the receiver has handled.
///
/// `transmit` and the functions of Edge run on the sender's loop; `consumed` and Incoming::poll run on the receiver's
/// loop. Each counter has one writer. Every message wakes the receiver, unless a Collector lets the receiver rest. If
/// the receiver is already awake, this costs only a fence and an atomic load. When the receiver has handled a message,
/// it wakes the sender only if the sender has asked for this.
class QueueEdge final : public Edge, public Receiver {
 public:
  QueueEdge(OutputBase& output, InputBase& input, EventLoop& sender, EventLoop& receiver, std::uint32_t id,
            Policy policy, std::uint64_t window_messages, std::uint64_t window_bytes);

  bool drained() const override;
  std::optional<std::uint64_t> under_way() const override;
  void consumed(const Envelope& envelope) override;

  /// Returns the source that detects that the receiver has handled messages, and then sends the waiting messages. The
  /// caller must add it to the sender's loop.
  Source& credit_source() { return credits_; }
  /// Returns the source that takes messages from the ring and delivers them. The caller must add it to the receiver's
  /// loop, unless it calls collect_with().
  Source& message_source() { return incoming_; }
  /// Lets a collector of the receiver's loop poll message_source(). Call this before the first message is sent.
  void collect_with(Collector& collector);

 private:
  // There are two sources because an edge has work for two loops: Credits for the sender's, and Incoming for the
  // receiver's.
  class Credits final : public Source {
   public:
    explicit Credits(QueueEdge& edge) : edge_(edge) {}
    bool poll() override;
    bool has_work() const override;

   private:
    QueueEdge& edge_;
  };
  class Incoming final : public Source {
   public:
    explicit Incoming(QueueEdge& edge) : edge_(edge) {}
    bool poll() override;
    bool has_work() const override { return !edge_.ring_.empty(); }

   private:
    QueueEdge& edge_;
  };

  bool has_room() const override;
  void transmit(const Envelope& envelope) override;
  // Returns true if at least half of the window is used: half of the messages or bytes that may be in flight.
  bool half_full() const;

  InputBase& input_;
  EventLoop& sender_;
  EventLoop& receiver_;
  SpscRing<Envelope> ring_;
  Credits credits_;
  Incoming incoming_;
  Collector* collector_ = nullptr;
  std::uint64_t sent_messages_ = 0;  ///< The number of messages sent, used by the sender.
  std::uint64_t sent_bytes_ = 0;     ///< The number of bytes sent, used by the sender.
  mutable bool starved_ = false;     ///< Used by the sender: true if it waits for room.
  // The receiver writes these counters. They are on a separate cache line, apart from the members that the sender
  // writes for every message.
  alignas(64) std::atomic<std::uint64_t> consumed_messages_{0};
  std::atomic<std::uint64_t> consumed_bytes_{0};
  mutable std::atomic<bool> wants_wake_{false};
};

}  // namespace trainyard::core
