// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "messages/message_type.h"

namespace trainyard::launch {

/// The handlers of messages, by the name of the message's type. `From` are the types of additional arguments that tell
/// a handler who the sender is.
template <class... From>
class MessageTable {
 public:
  /// Sets the handler for messages of type T. Each type has one handler.
  template <Message T>
  void on(std::function<void(From..., const T& message)> handler) {
    handlers_[T::kTypeName] = [handler = std::move(handler)](From... from, const std::string& body) {
      T message;
      decode(message, std::as_bytes(std::span(body)));
      handler(from..., message);
    };
  }

  /// Calls the handler of a message. A message of a type without a handler is ignored. Throws kCorrupt if the body
  /// cannot be read.
  void handle(From... from, const std::string& type, const std::string& body) const {
    const auto handler = handlers_.find(type);
    if (handler != handlers_.end()) handler->second(from..., body);
  }

 private:
  std::map<std::string, std::function<void(From..., const std::string&)>, std::less<>> handlers_;
};

/// Returns the binary form of a message that has no tensors.
template <Message T>
std::string body_of_message(const T& message) {
  std::string body;
  std::vector<Buffer> none;
  encode(message, body, none);
  return body;
}

}  // namespace trainyard::launch
