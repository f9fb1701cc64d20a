#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "core/component/port.h"
#include "core/edge/envelope.h"

namespace trainyard {

class OutputBase;

/// Counters of an edge; written by the sender's thread, readable from any. Relaxed: each is right by itself, and no two
/// need to agree.
struct EdgeCounters {
  std::atomic<std::uint64_t> sent{0};     ///< Handed to the transport.
  std::atomic<std::uint64_t> dropped{0};  ///< Given up by `latest` or `drop_oldest`.
  std::atomic<std::uint64_t> bytes{0};    ///< Of what was sent.
  std::atomic<std::uint64_t> blocked{0};  ///< Times that a message had to wait for credit.
};

/// The sending end of one connection. Owns the policy; subclasses know how to carry a message and how much room there
/// is.
///
/// Not thread-safe: everything runs on the sender's event loop, except `counters`.
class Edge {
 public:
  /// `id` is that of the plan. Windows bound what is under way; what `drop_oldest` keeps back has the same bound again.
  Edge(OutputBase& output, std::uint32_t id, Policy policy, std::uint64_t window_messages, std::uint64_t window_bytes);
  /// What still waits is lost with it.
  virtual ~Edge() = default;
  Edge(const Edge&) = delete;
  Edge& operator=(const Edge&) = delete;

  /// Carries the message now or keeps it back, as the policy says.
  void send(const Envelope& envelope);

  /// True if the next message would not have to wait.
  bool ready() const { return receiver_gone_ || (waiting_.empty() && has_room()); }

  /// To be called by the subclass whenever credit has come back.
  void on_room();

  /// The process of the receiver has died. Until there is room again, because it has come back, nothing waits for it:
  /// what is sent is dropped and counted, by `block` too. A run that may go on without a component must not hang on it.
  void receiver_gone();

  /// True if every message has been handled by the receiver.
  virtual bool drained() const = 0;

  /// Asks the other end to return credit without delay until drained.
  virtual void request_flush() {}

  std::uint32_t id() const { return id_; }
  Policy policy() const { return policy_; }
  OutputBase& output() const { return output_; }
  /// The one member that any thread may read.
  const EdgeCounters& counters() const { return counters_; }
  /// Messages kept back for want of credit.
  std::size_t waiting() const { return waiting_.size(); }

 protected:
  /// True if transmit() may be called. A subclass whose receiver cannot call back leaves word here that it wants to be
  /// told, hence the mutable members there.
  virtual bool has_room() const = 0;
  /// Carries one message; called only while has_room(). Takes what the message counts for off the credits.
  virtual void transmit(const Envelope& envelope) = 0;

  std::uint64_t window_messages_;
  std::uint64_t window_bytes_;

  /// The rule of the credits: room for one more if a message and at least one byte are free, or if nothing is under
  /// way.
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

}  // namespace trainyard
