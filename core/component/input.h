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

/// The part of an input that does not depend on its type. Used on the owner's event loop, but for what never changes.
class InputBase {
 public:
  virtual ~InputBase() = default;
  InputBase(const InputBase&) = delete;
  InputBase& operator=(const InputBase&) = delete;

  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  /// What it takes; the runtime compares it with the sender's before any message comes.
  const MessageType& type() const { return type_; }
  /// As declared; the launch file's overrides are in the edges.
  const InputOptions& options() const { return options_; }
  Component& owner() const { return owner_; }

  /// How many edges end here; 0 until the component is configured. An optional input with 0 is one that nobody serves:
  /// do not wait for it.
  std::size_t connections() const { return connections_; }
  /// For the runtime, before the component is configured.
  void set_connections(std::size_t count) { connections_ = count; }

  /// Runs the handler. The envelope's message is of this input's type: whoever delivers has seen to that.
  virtual void handle(const Envelope& envelope) = 0;

  /// For a component that cannot use more of this input now: what arrives waits, and its credit with it, so that the
  /// sender is held back while other inputs are served. From the component's own handlers and hooks only.
  void pause() { paused_ = true; }

  /// Hands over what waited, in order, until the handler pauses again.
  void resume();

  /// For the runtime: true if the delivery was put aside because of `pause`.
  bool put_aside(const Delivery& delivery);

 protected:
  InputBase(Component& owner, std::string name, std::string help, const MessageType& type, InputOptions options);

  /// An input that is no declared port of its owner: made and removed while it runs.
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
  std::deque<Delivery> aside_;  ///< Arrived while paused.
};

/// A place where messages of one type come in. The handler runs on the component's event loop, never concurrently with
/// another handler of the same component, and may keep the message by keeping its pointer.
///
///     Input<Batch> batches_{*this, "batches", "training data", [this](const auto& batch) { on_batch(batch); }};
template <Message T>
class Input final : public InputBase {
 public:
  using Pointer = std::shared_ptr<const T>;

  /// `handler` takes `const std::shared_ptr<const T>&` and, if it likes, a `const MessageInfo&`.
  template <class Handler>
  Input(Component& owner, std::string name, std::string help, Handler handler, InputOptions options = {})
      : InputBase(owner, std::move(name), std::move(help), message_type<T>(), std::move(options)) {
    if constexpr (std::is_invocable_v<Handler, const Pointer&, const MessageInfo&>) {
      handler_ = std::move(handler);
    } else {
      handler_ = [handler = std::move(handler)](const Pointer& message, const MessageInfo&) { handler(message); };
    }
  }

  void handle(const Envelope& envelope) override {
    handler_(std::static_pointer_cast<const T>(envelope.message),
             MessageInfo{envelope.sequence, envelope.send_time_ns, envelope.trace, envelope.source});
  }

 private:
  std::function<void(const Pointer&, const MessageInfo&)> handler_;
};

}  // namespace trainyard
