#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "core/component/port.h"
#include "core/edge/delivery.h"
#include "messages/message_type.h"

namespace trainyard {

/// The part of an input that does not depend on its message type. It is used on the owner's event loop, except for what
/// never changes.
class InputBase {
 public:
  virtual ~InputBase() = default;
  InputBase(const InputBase&) = delete;
  InputBase& operator=(const InputBase&) = delete;

  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  /// The message type. The runtime compares it with the sender's before any message arrives.
  const MessageType& type() const { return type_; }
  /// The options as declared. What the launch file overrides is in the edges.
  const InputOptions& options() const { return options_; }
  Component& owner() const { return owner_; }

  /// The number of edges that end here; 0 until the component is configured. Nobody sends to an optional input that
  /// still has 0 then, so the component must not wait for it.
  std::size_t connections() const { return connections_; }
  /// For the runtime, before the component is configured.
  void set_connections(std::size_t count) { connections_ = count; }

  /// Runs the handler. Whoever delivers makes sure that the envelope's message has this input's type.
  virtual void handle(const core::Envelope& envelope) = 0;

  /// Called by a component that cannot use more of this input now. What arrives waits and keeps its credit, so the
  /// sender is held back while other inputs are served. It may be called only from the component's own handlers and
  /// hooks.
  void pause() { paused_ = true; }

  /// Delivers what waited, in order, until the handler pauses again.
  void resume();

  /// For the runtime: sets the delivery aside and returns true if the input is paused.
  bool put_aside(const core::Delivery& delivery);

 protected:
  InputBase(Component& owner, std::string name, std::string help, const MessageType& type, InputOptions options);

  /// Marks an input that is not a declared port of its owner, because it is made and removed while the owner runs.
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
  bool paused_ = false;
  bool resuming_ = false;
  std::deque<core::Delivery> aside_;  ///< The messages that arrived while the input was paused.
};

/// A port where messages of one type come in. The handler runs on the component's event loop, never concurrently with
/// another handler of the same component. It may keep the message by keeping the pointer.
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
