// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::web::testing {

/// One frame of a WebSocket.
struct Frame {
  int opcode = 0;  ///< 1 text, 2 binary, 8 close, 9 ping, 10 pong.
  std::string payload;
};

/// A client that shares no code with the server: it sends and receives bytes on a TCP connection to a port of
/// 127.0.0.1. Every function has a deadline, after which it returns an empty result.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// Sends these bytes. Returns false if the connection is closed, or accepts no bytes for a second.
  bool send(std::string_view bytes);
  /// Returns the next bytes, at most `most`. The result is empty if the server has closed the connection or sends
  /// nothing.
  std::string receive(std::size_t most = 65536);
  /// Returns whether the server closes the connection before the deadline. Bytes that arrive meanwhile are discarded.
  bool closed_by_server(std::chrono::milliseconds deadline = std::chrono::seconds(10));

  /// Sends a GET request, and returns the whole answer: its head, and a body of the length that the head announces.
  std::string get(const std::string& target, const std::string& more_fields = "", const std::string& host = "");
  /// Requests a WebSocket, and returns the head of the answer.
  std::string upgrade(const std::string& target, const std::string& more_fields = "", const std::string& host = "");

  /// Sends one frame, masked as the protocol requires of clients.
  bool send_frame(std::string_view payload, int opcode = 1);
  /// Returns the next frame. If `pong` is true, answers the pings that arrive before it.
  std::optional<Frame> receive_frame(bool pong = true);

 private:
  std::string take_until(std::string_view end);
  bool fill(std::size_t bytes);

  std::uint16_t port_;
  int socket_;
  std::string unread_;
};

}  // namespace trainyard::web::testing
