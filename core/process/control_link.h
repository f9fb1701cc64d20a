// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <zmq.hpp>

#include "core/loop/event_loop.h"
#include "core/transport/frames.h"
#include "core/transport/run_keys.h"

namespace trainyard::core {

/// The connection to the launcher. A message consists of the frames [type name][binary body]. The socket is a DEALER
/// whose routing id is the process's name, so that the launcher can address the process even after a restart. This
/// class is used only on the control thread, which waits for messages from the launcher.
class ControlLink final : public Source {
 public:
  /// Connects to the launcher at `endpoint` under the name `process`. The launcher need not be listening yet. Throws
  /// kUnsupported if check_member_address() does not allow the address.
  ControlLink(zmq::context_t& context, const std::string& process, const std::string& endpoint, const RunKeys& keys);

  /// Sets the handler for messages of type T. Messages without a handler are ignored, because a newer launcher may send
  /// further types.
  template <Message T>
  void on(std::function<void(const T&)> handler) {
    handlers_[T::kTypeName] = [handler = std::move(handler)](const zmq::message_t& body) {
      handler(read_message<T>(body));
    };
  }

  /// Sends a message. Only the control thread may call this.
  template <Message T>
  void send(const T& message) {
    std::string body;
    std::vector<Buffer> none;
    encode(message, body, none);
    Frames frames;
    frames.emplace_back(std::string_view(T::kTypeName));
    frames.emplace_back(std::string_view(body));
    send_frames(socket_, frames);
  }

  bool poll() override;
  bool has_work() const override { return false; }
  void* socket() const override { return const_cast<zmq::socket_t&>(socket_).handle(); }

 private:
  zmq::socket_t socket_;
  std::map<std::string, std::function<void(const zmq::message_t&)>> handlers_;
  Frames frames_;
};

}  // namespace trainyard::core
