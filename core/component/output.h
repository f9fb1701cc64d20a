// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
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

/// The part of an output that does not depend on its message type. All of its functions run on the owner's event loop.
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
  /// Returns the number of edges that start here, including the edges to visitors.
  std::size_t connections() const { return edges_.size(); }
  /// Returns the number of messages sent, including messages that no input received. The next message has this number
  /// as its sequence number.
  std::uint64_t sent() const { return sequence_; }

  /// Returns true if every blocking edge has room for one more message. A component that produces data by itself should
  /// send only while this is true. Other components need not check it: while messages wait at one of their outputs,
  /// they receive no further input.
  bool ready() const;

  /// Sets a callback that is called on the component's loop when ready() becomes true again after it was false.
  void on_ready(std::function<void()> callback) { on_ready_ = std::move(callback); }

  // The following functions are for the runtime.

  /// Adds an edge, which the output does not own.
  void add_edge(core::Edge& edge);
  /// Removes an edge. The owner of the edge must call this before destroying the edge.
  void remove_edge(core::Edge& edge);
  /// Returns the edges. Call this only on the loop of the output's component.
  const std::vector<core::Edge*>& edges() const { return edges_; }
  /// For a latched output: returns the last message that was sent, or an envelope without a message.
  const core::Envelope& last() const { return last_; }
  /// Records that a blocking edge has room and that no message waits at it. `was_waiting` is true if messages had been
  /// waiting at the edge until now.
  void room_again(bool was_waiting);
  /// Returns true while messages wait at a blocking edge. Meanwhile the owner receives no further input.
  bool blocked() const { return blocked_edges_ != 0; }
  /// Records that messages have begun to wait at a blocking edge. When they no longer wait, room_again(true) must be
  /// called.
  void edge_blocked() { ++blocked_edges_; }

 protected:
  OutputBase(Component& owner, std::string name, std::string help, const MessageType& type, OutputOptions options);

  /// Sends the message to every edge. Never waits for room: an edge without room keeps or drops the message, depending
  /// on its policy.
  void send_erased(std::shared_ptr<const void> message);

 private:
  Component& owner_;
  std::string name_;
  std::string help_;
  const MessageType& type_;
  OutputOptions options_;
  std::vector<core::Edge*> edges_;
  std::uint64_t sequence_ = 0;
  core::Envelope last_;    ///< The last message that was sent; kept only if the output is latched.
  int blocked_edges_ = 0;  ///< The number of blocking edges whose messages wait for credit.
  std::function<void()> on_ready_;
};

/// A port that sends messages of one type to any number of inputs, from handlers on the component's event loop.
///
///    Output<Batch> batches_{*this, "batches", "training data"};
///
/// A steady stream needs no allocation: `auto m = batches_.loan(); m->samples = 64; batches_.send(std::move(m));`
template <Message T>
class Output final : public OutputBase {
 public:
  /// Registers the output with its owner. The output must be a member of its owner. `trainyard plugin info` shows
  /// `help`.
  Output(Component& owner, std::string name, std::string help, OutputOptions options = {})
      : OutputBase(owner, std::move(name), std::move(help), message_type<T>(), std::move(options)) {}

  /// Returns a message to fill and send. The function reuses an earlier message if every reader has released it. A
  /// reused message has its old contents, so that strings and vectors keep their capacity; the caller must therefore
  /// set every field.
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
  /// Sends the message, in newly allocated memory. Use this for messages that are sent rarely.
  void send(T message) { send_erased(std::make_shared<const T>(std::move(message))); }

 private:
  // The maximum number of messages that are kept for reuse, so that a slow reader cannot make the list grow without
  // limit.
  static constexpr std::size_t kMaxLoans = 16;
  std::vector<std::shared_ptr<T>> loans_;
  std::size_t next_loan_ = 0;
};

}  // namespace trainyard
