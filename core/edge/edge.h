// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>

#include "core/component/port.h"
#include "core/edge/envelope.h"

namespace trainyard {
class OutputBase;
}  // namespace trainyard

namespace trainyard::core {

/// The counters of an edge (a connection from an output to an input). Only the sender's thread writes them, and any
/// thread may read them. They are relaxed atomics: each counter is correct, but values that are read together may
/// belong to different moments.
struct EdgeCounters {
  std::atomic<std::uint64_t> sent{0};  ///< The number of messages that were given to the transport.
  /// The number of messages dropped by the policies `latest` and `drop_oldest`, or because the receiver had died.
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::uint64_t> bytes{0};  ///< The total size of the messages sent, in bytes.
  /// The number of messages that could not be sent immediately, because there was no room.
  std::atomic<std::uint64_t> blocked{0};
};

/// The sending end of a connection from an output to an input. This class applies the policy, which decides what
/// happens to a message when there is no room. Its subclasses transfer the messages and determine whether there is
/// room.
///
/// An edge is not thread-safe: all functions except counters() and under_way() may be called only on the sender's event
/// loop.
class Edge {
 public:
  /// `id` is the edge's number in the plan. `window_messages` and `window_bytes` limit the number and the total size of
  /// the messages in flight. With the policy `drop_oldest`, the same limits apply separately to the messages that are
  /// waiting at the edge; the newest message is always kept.
  Edge(OutputBase& output, std::uint32_t id, Policy policy, std::uint64_t window_messages, std::uint64_t window_bytes);
  /// Destroys the edge. Messages that still wait at it are lost.
  virtual ~Edge() = default;
  Edge(const Edge&) = delete;
  Edge& operator=(const Edge&) = delete;

  /// Transfers the message if there is room. Otherwise the message waits and, depending on the policy, replaces older
  /// ones. If the receiver's process has died, the message is dropped instead.
  void send(const Envelope& envelope);

  /// Returns true if the receiver's process has died, so that messages are dropped until it has been restarted.
  bool drops_everything() const { return receiver_gone_; }

  /// Returns true if the next message would not have to wait: there is room, or the message would be dropped because
  /// the receiver's process has died.
  bool ready() const { return receiver_gone_ || (waiting_.empty() && has_room()); }

  /// Sends the waiting messages, as long as there is room. The subclass calls this when the receiver has handled
  /// messages.
  void on_room();

  /// Records that the receiver's process has died. Until the process has been restarted and there is room again,
  /// messages are dropped and counted, even with the policy `block`. A run that can continue without the receiver
  /// therefore does not hang. The gateway also calls this when the last visitor of an output has left.
  void receiver_gone();

  /// Returns true if no message waits here and the receiver has handled every message that was sent.
  virtual bool drained() const = 0;

  /// Asks the receiver to report every handled message without delay from now on. Does nothing if the receiver always
  /// does so.
  virtual void request_flush() {}

  std::uint32_t id() const { return id_; }
  /// Returns the index in the plan of the component to which the edge leads; empty for an edge that is not in the plan,
  /// such as that of a visitor.
  std::optional<std::uint32_t> receiver() const { return receiver_; }
  /// Sets the result of receiver(). Called by the runtime before the first message is sent.
  void set_receiver(std::uint32_t component) { receiver_ = component; }
  Policy policy() const { return policy_; }
  OutputBase& output() const { return output_; }
  /// Returns the counters. Any thread may read them.
  const EdgeCounters& counters() const { return counters_; }
  /// Returns the number of messages that have been sent and have not been handled, or an empty optional if this process
  /// does not know the number. Any thread may call this.
  virtual std::optional<std::uint64_t> under_way() const { return {}; }
  /// Returns the number of messages that are waiting here because there is no room.
  std::size_t waiting() const { return waiting_.size(); }

 protected:
  /// Returns true if transmit() may be called. Before returning false, a subclass can ask the receiver to wake the
  /// sender when there is room. This is why some members of the subclasses are mutable.
  virtual bool has_room() const = 0;
  /// Transfers one message and counts it as in flight. Called only if has_room() has just returned true.
  virtual void transmit(const Envelope& envelope) = 0;

  std::uint64_t window_messages_;
  std::uint64_t window_bytes_;

  /// Returns true if the window allows one more message, given the number and the total size of the messages in flight:
  /// if nothing is in flight, or if the window has room for at least one more message and one more byte.
  bool within_window(std::uint64_t messages, std::uint64_t bytes) const {
    return messages == 0 || (messages < window_messages_ && bytes < window_bytes_);
  }

 private:
  void keep_back(const Envelope& envelope);
  void carry(const Envelope& envelope);
  // Takes the oldest waiting message out of the queue.
  Envelope take_oldest();

  OutputBase& output_;
  std::uint32_t id_;
  Policy policy_;
  std::optional<std::uint32_t> receiver_;
  bool receiver_gone_ = false;
  std::deque<Envelope> waiting_;
  std::uint64_t waiting_bytes_ = 0;
  EdgeCounters counters_;
};

}  // namespace trainyard::core
