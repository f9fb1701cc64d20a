// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/component/port.h"
#include "core/edge/delivery.h"
#include "messages/message_type.h"

namespace trainyard {

/// The part of an input that does not depend on its message type. Functions whose result never changes may be called on
/// any thread. Call all other functions only on the event loop of the owner, which is the component that declares the
/// input.
class InputBase {
 public:
  virtual ~InputBase() = default;
  InputBase(const InputBase&) = delete;
  InputBase& operator=(const InputBase&) = delete;

  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  /// Returns the message type. The runtime compares it with the sender's type before any message is delivered.
  const MessageType& type() const { return type_; }
  /// Returns the options as declared. If the launch file overrides an option, the edges (connections from outputs) use
  /// the value from the launch file, which this function does not return.
  const InputOptions& options() const { return options_; }
  Component& owner() const { return owner_; }

  /// Returns the number of edges that end here: 0 in the component's constructor, and the final number from
  /// on_configure() on. An optional input with 0 connections never receives a message, so the component must not wait
  /// for one.
  std::size_t connections() const { return connections_; }
  /// Sets the number of edges. Called by the runtime before the component is configured.
  void set_connections(std::size_t count) { connections_ = count; }
  /// Returns the indices in the plan of the components whose outputs are connected to this input. One of them can be
  /// listed several times. The processes that publish the log are not listed.
  const std::vector<std::uint32_t>& senders() const { return senders_; }
  /// Adds a component to senders(). Called by the runtime before the component is configured.
  void add_sender(std::uint32_t component) { senders_.push_back(component); }

  /// Runs the handler. The caller ensures that the envelope's message has this input's type.
  virtual void handle(const core::Envelope& envelope) = 0;

  /// Stops delivery to this input, for a component that cannot use more messages at the moment. Messages that arrive
  /// are put aside, while other inputs continue to receive messages. Messages put aside count as not handled yet, so a
  /// sender over an edge with the policy `block` must wait when the limit of messages in flight on the edge is reached.
  /// Only the component's own handlers and hooks may call pause().
  void pause() { paused_ = true; }

  /// Ends the pause and delivers the messages that were put aside, in order, until the handler pauses the input again.
  /// Does nothing if the input is not paused.
  void resume();

  /// If the input is paused or earlier messages are still put aside, puts this message aside, too, and returns true.
  /// Otherwise returns false, and the caller must pass the message to handle(). Called only by the runtime.
  bool put_aside(const core::Delivery& delivery);

 protected:
  InputBase(Component& owner, std::string name, std::string help, const MessageType& type, InputOptions options);

  /// A tag for the constructor of an input that is not a declared port of its owner, because the input is created and
  /// destroyed while the owner runs.
  struct Unlisted {};
  InputBase(Component& owner, std::string name, std::string help, const MessageType& type, InputOptions options,
            Unlisted);

 private:
  Component& owner_;
  std::string name_;
  std::string help_;
  const MessageType& type_;
  InputOptions options_;
  std::size_t connections_ = 0;
  std::vector<std::uint32_t> senders_;
  bool paused_ = false;
  bool resuming_ = false;
  std::deque<core::Delivery> aside_;  ///< The messages that arrived while the input was paused.
};

/// A port that receives messages of one type and passes them to a handler. The handler runs on the component's event
/// loop, never concurrently with another handler of the same component. To keep a message after the handler has
/// returned, copy the pointer.
///
///    Input<Batch> batches_{*this, "batches", "training data", [this](const auto& batch) { on_batch(batch); }};
template <Message T>
class Input final : public InputBase {
 public:
  using Pointer = std::shared_ptr<const T>;

  /// `handler` takes a `const std::shared_ptr<const T>&` and, optionally, a `const MessageInfo&`.
  template <class Handler>
  Input(Component& owner, std::string name, std::string help, Handler handler, InputOptions options = {})
      : InputBase(owner, std::move(name), std::move(help), message_type<T>(), std::move(options)) {
    if constexpr (std::is_invocable_v<Handler, const Pointer&, const MessageInfo&>) {
      handler_ = std::move(handler);
    } else {
      handler_ = [handler = std::move(handler)](const Pointer& message, const MessageInfo&) { handler(message); };
    }
  }

  void handle(const core::Envelope& envelope) override {
    handler_(std::static_pointer_cast<const T>(envelope.message),
             MessageInfo{envelope.sequence, envelope.send_time_ns, envelope.trace, envelope.source});
  }

 private:
  std::function<void(const Pointer&, const MessageInfo&)> handler_;
};

}  // namespace trainyard
