#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "core/component/port.h"
#include "core/edge/envelope.h"

namespace trainyard {
class OutputBase;
}  // namespace trainyard

namespace trainyard::core {

/// The counters of an edge, written by the sender's thread and readable from any. They are relaxed atomics: each is
/// right by itself, and no two need to agree.
struct EdgeCounters {
  std::atomic<std::uint64_t> sent{0};     ///< Messages that were given to the transport.
  std::atomic<std::uint64_t> dropped{0};  ///< Messages given up by `latest` or `drop_oldest`.
  std::atomic<std::uint64_t> bytes{0};    ///< Bytes of the messages sent.
  std::atomic<std::uint64_t> blocked{0};  ///< How often a message had to wait for credit.
};

/// The sending end of one connection. It applies the policy; subclasses know how to carry a message and how much room
/// there is.
///
/// An edge is not thread-safe: except for `counters`, everything runs on the sender's event loop.
class Edge {
 public:
  /// `id` is that of the plan. The windows bound what is under way. The same bound applies, separately, to what
  /// `drop_oldest` keeps back.
  Edge(OutputBase& output, std::uint32_t id, Policy policy, std::uint64_t window_messages, std::uint64_t window_bytes);
  /// Destroys the edge; messages that still wait in it are lost.
  virtual ~Edge() = default;
  Edge(const Edge&) = delete;
  Edge& operator=(const Edge&) = delete;

  /// Carries the message now or keeps it back, depending on the policy.
  void send(const Envelope& envelope);

  /// Returns true if the next message would not have to wait.
  bool ready() const { return receiver_gone_ || (waiting_.empty() && has_room()); }

  /// The subclass calls this whenever credit has come back.
  void on_room();

  /// Called when the receiver's process has died. Until it has come back and there is room again, nothing waits for it:
  /// messages are dropped and counted, even with the policy `block`. A run that may go on without a component must not
  /// hang on it.
  void receiver_gone();

  /// Returns true if the receiver has handled every message.
  virtual bool drained() const = 0;

  /// Asks the other end to return credit without delay until the edge is drained.
  virtual void request_flush() {}

  std::uint32_t id() const { return id_; }
  Policy policy() const { return policy_; }
  OutputBase& output() const { return output_; }
  /// The one member that any thread may read.
  const EdgeCounters& counters() const { return counters_; }
  /// Returns the number of messages kept back for lack of credit.
  std::size_t waiting() const { return waiting_.size(); }

 protected:
  /// Returns true if transmit() may be called. A subclass whose receiver cannot call back records here that it wants to
  /// be told; this is why some of its members are mutable.
  virtual bool has_room() const = 0;
  /// Carries one message and takes its size off the credits. It is called only while has_room() is true.
  virtual void transmit(const Envelope& envelope) = 0;

  std::uint64_t window_messages_;
  std::uint64_t window_bytes_;

  /// The rule of the credits: there is room for one more message if the window has a free message and at least one free
  /// byte, or if nothing is under way.
  bool within_window(std::uint64_t messages, std::uint64_t bytes) const {
    return messages == 0 || (messages < window_messages_ && bytes < window_bytes_);
  }

 private:
  void keep_back(const Envelope& envelope);
  void carry(const Envelope& envelope);

  OutputBase& output_;
  std::uint32_t id_;
  Policy policy_;
  bool receiver_gone_ = false;
  std::deque<Envelope> waiting_;
  EdgeCounters counters_;
};

}  // namespace trainyard::core
