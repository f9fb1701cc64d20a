// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/component/port.h"
#include "messages/message_type.h"

namespace trainyard::core {
class Edge;
}  // namespace trainyard::core

namespace trainyard {

/// The part of an output that does not depend on its message type. Functions whose result never changes may be called
/// on any thread. Call all other functions only on the event loop of the owner, which is the component that declares
/// the output.
class OutputBase {
 public:
  virtual ~OutputBase();
  OutputBase(const OutputBase&) = delete;
  OutputBase& operator=(const OutputBase&) = delete;

  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  const MessageType& type() const { return type_; }
  const OutputOptions& options() const { return options_; }
  Component& owner() const { return owner_; }
  /// Returns the number of edges (connections to inputs) that start here. All visitors (programs that attach to the run
  /// from outside) count as one edge.
  std::size_t connections() const { return edges_.size(); }
  /// Returns the number of messages sent, including messages that no input received. This is also the sequence number
  /// of the next message.
  std::uint64_t sent() const { return sequence_; }

  /// Returns true if every blocking edge (a connection to an input with the policy `block`) has room for one more
  /// message. A component that produces data without receiving messages should send only while this is true. Other
  /// components need not check it: while messages wait at one of their outputs, they receive no further input.
  ///
  /// If no blocking edge limits the component, because there is none or because all receivers have died, the component
  /// could send without end. In this case, after every 64 messages that were sent within a millisecond, the result is
  /// false for a millisecond, so that the event loop can do other work.
  bool ready() const;

  /// Sets a callback, which is called on the component's loop when ready() has become true: whenever a blocking edge
  /// has gained room, and whenever a pause of a millisecond (see ready()) is over.
  void on_ready(std::function<void()> callback) { on_ready_ = std::move(callback); }

  // The following functions are for the runtime.

  /// Adds an edge, which the output does not own.
  void add_edge(core::Edge& edge);
  /// Removes an edge. The owner of the edge must call this before destroying the edge.
  void remove_edge(core::Edge& edge);
  /// Returns the edges that start here.
  const std::vector<core::Edge*>& edges() const { return edges_; }
  /// Returns the last message that was sent, if the output keeps it for visitors that subscribe later
  /// (OutputOptions::latched). Otherwise, or if no message was sent, returns an envelope without a message.
  const core::Envelope& last() const { return last_; }
  /// Called by a blocking edge that has room and at which no message waits any longer. `was_waiting` is true if
  /// messages had waited at the edge until now. If no messages wait at any other edge of this output, passes the
  /// messages that the owner has kept in the meantime to their handlers (Component::release_held), and then calls the
  /// callback set by on_ready() if ready() is true.
  void room_again(bool was_waiting);
  /// Returns true while messages wait at a blocking edge of this output. During this time the owner receives no further
  /// input.
  bool blocked() const { return blocked_edges_ != 0; }
  /// Records that messages have begun to wait at one more blocking edge. When no message waits at that edge any longer,
  /// room_again(true) must be called.
  void edge_blocked() { ++blocked_edges_; }

 protected:
  OutputBase(Component& owner, std::string name, std::string help, const MessageType& type, OutputOptions options);

  /// Sends the message to every edge. Returns without waiting for room: an edge without room keeps the message and,
  /// depending on its policy, drops older ones.
  void send_erased(std::shared_ptr<const void> message);

 private:
  // Returns true if the component sends fewer than 64 messages per millisecond. Otherwise begins a pause of a
  // millisecond, if there is none, and returns false.
  bool within_burst() const;
  void end_pause() const;

  Component& owner_;
  std::string name_;
  std::string help_;
  const MessageType& type_;
  OutputOptions options_;
  std::vector<core::Edge*> edges_;
  std::uint64_t sequence_ = 0;
  core::Envelope last_;    ///< The last message that was sent; kept only if OutputOptions::latched is true.
  int blocked_edges_ = 0;  ///< The number of blocking edges at which messages wait for room.
  std::function<void()> on_ready_;
  // The state of within_burst(). The members are mutable because ready(), which is const, calls this function.
  mutable std::uint64_t burst_first_ = 0;  ///< The sequence number of the first message of the current burst.
  mutable std::chrono::steady_clock::time_point burst_began_{};
  mutable std::uint64_t pause_timer_ = 0;  ///< The loop's timer that ends the pause; 0 if there is no pause.
};

/// A port that sends messages of one type to any number of inputs. Messages may be sent only on the component's event
/// loop.
///
///    Output<Batch> batches_{*this, "batches", "training data"};
///
/// With loan(), a steady stream of messages needs no memory allocations:
///
///    auto batch = batches_.loan();
///    batch->samples = 64;
///    batches_.send(std::move(batch));
template <Message T>
class Output final : public OutputBase {
 public:
  /// Declares an output of `owner`. The output must be a data member of the owner. `help` describes the messages;
  /// `trainyard plugin info` shows it.
  Output(Component& owner, std::string name, std::string help, OutputOptions options = {})
      : OutputBase(owner, std::move(name), std::move(help), message_type<T>(), std::move(options)) {}

  /// Returns a message to fill and send: an earlier one that every reader has released or, if there is none, a new one.
  /// An earlier message still has its old content, so that its strings and vectors keep their memory. The caller must
  /// therefore set every field.
  std::shared_ptr<T> loan() {
    for (std::size_t i = 0; i < loans_.size(); ++i) {
      next_loan_ = (next_loan_ + 1) % loans_.size();
      if (loans_[next_loan_].use_count() == 1) {
        // This pairs with the release of the last reader's decrement.
        std::atomic_thread_fence(std::memory_order_acquire);
        return loans_[next_loan_];
      }
    }
    auto fresh = std::make_shared<T>();
    if (loans_.size() < kMaxLoans) loans_.push_back(fresh);
    return fresh;
  }

  /// Sends the message, which must not be changed afterwards.
  void send(std::shared_ptr<const T> message) { send_erased(std::move(message)); }
  /// Moves the message into newly allocated memory and sends it. Use this function for messages that are sent rarely.
  void send(T message) { send_erased(std::make_shared<const T>(std::move(message))); }

 private:
  // The maximum number of messages that are kept for reuse, so that a slow reader cannot make the list grow without
  // limit.
  static constexpr std::size_t kMaxLoans = 16;
  std::vector<std::shared_ptr<T>> loans_;
  std::size_t next_loan_ = 0;
};

}  // namespace trainyard
