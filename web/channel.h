// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "web/role.h"

namespace trainyard::web {

/// The server's end of one WebSocket connection. In all functions, `binary` is true for a binary message, and false for
/// a text message in UTF-8. Any thread may call these functions, but only while the channel's handler exists.
class Channel {
 public:
  virtual ~Channel() = default;

  virtual Role role() const = 0;

  /// Sends the answer to a message. The answer is queued even if the queue is full. But while the queue is full, the
  /// server reads no further messages from this channel, so a client that does not read its answers cannot ask for
  /// more.
  virtual void answer(std::string text, bool binary = false) = 0;

  /// Sends a message that does not answer a request. Returns false if the client misses the message, because the queue
  /// is full (such misses are counted) or the connection has ended. Many channels can share one text.
  virtual bool push(std::shared_ptr<const std::string> text, bool binary = false) = 0;

  /// Returns how many messages of push() the client has missed.
  virtual std::uint64_t missed() const = 0;

  /// Closes the channel. The handler is destroyed soon afterwards.
  virtual void close() = 0;
};

/// Handles the messages of one channel. The server creates a handler when a client has connected, and destroys it when
/// the connection has ended. Construction, destruction and on_message() run on the server's thread, which serves all
/// connections, so work that takes longer than a few milliseconds must be done on another thread.
class ChannelHandler {
 public:
  virtual ~ChannelHandler() = default;

  /// Handles a message from the client. If this function throws, the server closes the channel.
  virtual void on_message(std::string_view message, bool binary) = 0;
};

/// A path at which WebSockets are accepted.
struct ChannelOptions {
  std::string path;  ///< The path, such as "/ws".
  /// The subprotocol that a client must request, such as "foxglove.websocket.v1"; empty if none is needed.
  std::string subprotocol;
  /// Besides the server's own pages, web pages of these origins, such as "https://app.example.org", may connect if they
  /// present a token. "*" stands for all origins; such pages must give the token in the address.
  std::vector<std::string> origins;
};

using MakeHandler = std::function<std::unique_ptr<ChannelHandler>(Channel& channel)>;

}  // namespace trainyard::web
