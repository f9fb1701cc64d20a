#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/component/port.h"
#include "messages/message_type.h"

namespace trainyard {

class Edge;

/// The part of an output that does not depend on its type. Everything here runs on the owner's event loop.
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
  /// Edges that start here, visitors' included.
  std::size_t connections() const { return edges_.size(); }
  /// Messages sent so far, whether anybody listened or not: the next one's sequence number.
  std::uint64_t sent() const { return sequence_; }

  /// True if every blocking edge has room for one more message. A source sends only while this holds; a component whose
  /// output is not ready is given no further input until it is, so anyone else need not ask.
  bool ready() const;

  /// Called on the component's loop when ready() becomes true again after it was false.
  void on_ready(std::function<void()> callback) { on_ready_ = std::move(callback); }

  // For the runtime.

  /// The output does not own edges; who made one removes it before it goes.
  void add_edge(Edge& edge);
  void remove_edge(Edge& edge);
  /// On the owner's loop; not owned by the output.
  const std::vector<Edge*>& edges() const { return edges_; }
  /// A blocking edge can carry a message again; `was_waiting`: it had kept some back, and has none left.
  void room_again(bool was_waiting);
  /// True while an edge keeps messages back: then the owner is given no input.
  bool blocked() const { return blocked_edges_ != 0; }
  /// An edge begins to keep messages back; paired with a room_again(true).
  void edge_blocked() { ++blocked_edges_; }

 protected:
  OutputBase(Component& owner, std::string name, std::string help, const MessageType& type, OutputOptions options);

  /// Sends to every edge. Never waits and never fails for want of room: what finds none waits in its edge.
  void send_erased(std::shared_ptr<const void> message);

 private:
  Component& owner_;
  std::string name_;
  std::string help_;
  const MessageType& type_;
  OutputOptions options_;
  std::vector<Edge*> edges_;
  std::uint64_t sequence_ = 0;
  int blocked_edges_ = 0;  ///< Blocking edges that hold messages back for want of credit.
  std::function<void()> on_ready_;
};

/// A place where messages of one type go out, to any number of inputs, from handlers on the component's event loop.
///
///     Output<Batch> batches_{*this, "batches", "training data"};
///
/// A steady stream without allocation: `auto m = batches_.loan(); m->samples = 64; batches_.send(std::move(m));`
template <Message T>
class Output final : public OutputBase {
 public:
  /// Registers itself with its owner, of which it is a member. `help` is what `plugin info` shows.
  Output(Component& owner, std::string name, std::string help, OutputOptions options = {})
      : OutputBase(owner, std::move(name), std::move(help), message_type<T>(), std::move(options)) {}

  /// A message to fill and send. Recycles one that every reader has let go of, with its old contents, so that strings
  /// and vectors keep their capacity: set every field.
  std::shared_ptr<T> loan() {
    for (std::size_t i = 0; i < loans_.size(); ++i) {
      next_loan_ = (next_loan_ + 1) % loans_.size();
      if (loans_[next_loan_].use_count() == 1) {
        std::atomic_thread_fence(std::memory_order_acquire);  // Pairs with the release of the last reader's decrement.
        return loans_[next_loan_];
      }
    }
    auto fresh = std::make_shared<T>();
    if (loans_.size() < kMaxLoans) loans_.push_back(fresh);
    return fresh;
  }

  /// Sends; nobody may write to the message afterwards.
  void send(std::shared_ptr<const T> message) { send_erased(std::move(message)); }
  /// For messages that are sent now and then: allocates one.
  void send(T message) { send_erased(std::make_shared<const T>(std::move(message))); }

 private:
  // Beyond that messages are under way that nobody recycles: a slow reader must not grow the list for ever.
  static constexpr std::size_t kMaxLoans = 16;
  std::vector<std::shared_ptr<T>> loans_;
  std::size_t next_loan_ = 0;
};

}  // namespace trainyard
