// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "web/channel.h"
#include "web/files.h"
#include "web/message.h"
#include "web/role.h"

namespace trainyard::web {

/// How much a server lets its clients use.
struct Limits {
  std::size_t connections = 128;  ///< All connections together. One that comes when there are as many is closed.
  /// Connections that have not shown a token yet. A further one takes the place of the oldest, so that connections that
  /// say nothing cannot keep others out.
  std::size_t guests = 32;
  std::size_t head_bytes = 8192;                ///< The head of a request.
  std::size_t message_bytes = 64u << 10;        ///< One message that a client sends over a WebSocket.
  std::size_t queued_bytes = 4u << 20;          ///< What waits to be sent over one WebSocket.
  std::chrono::milliseconds handshake{10'000};  ///< From the connection, or the first byte, to the whole head.
  std::chrono::milliseconds idle{60'000};       ///< Without a sign of life from the client.
};

/// Where a server listens, and to whom.
struct Settings {
  std::string address = "127.0.0.1";  ///< An IP address.
  std::uint16_t port = 0;             ///< 0 lets the kernel choose.
  /// Further names under which clients reach the server. Needed if `address` stands for all addresses (0.0.0.0, ::).
  std::vector<std::string> names;
  std::string certificate;  ///< The path of a PEM file with the certificate and its chain; empty for no TLS.
  std::string key;          ///< The path of a PEM file with the private key of the certificate.
  /// The tokens of the two roles. Where one is empty, the server makes a new one.
  std::string control_token, watch_token;
  Limits limits;
};

/// What has happened at a server.
struct Counters {
  std::uint64_t connections = 0;  ///< Connections that exist now.
  std::uint64_t accepted = 0;     ///< Connections that were ever accepted.
  std::uint64_t refused = 0;      ///< Requests that the gatekeeper refused.
  std::uint64_t turned_away = 0;  ///< Connections that were closed because there were too many.
  std::uint64_t missed = 0;       ///< Pushes that slow clients have missed.
};

/// A small HTTP and WebSocket server on a thread of its own. It knows nothing of what it serves: files, paths that
/// answer GET, and paths that accept WebSockets are registered before start().
///
/// Nobody gets anything without a token (gatekeeper.h), also on loopback, because other users of the same machine can
/// connect there. Outside of loopback, the server starts only with TLS.
class Server {
 public:
  /// Binds the address, so that the port is known. Throws kInvalidArgument if the address is not an IP address, or
  /// is outside of loopback and there is no certificate; kIo if the address cannot be bound; and kNotFound, kCorrupt or
  /// kIo if the certificate or the key cannot be used.
  explicit Server(Settings settings);
  /// Closes all connections and ends the thread. Handlers of channels are destroyed.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Sends these files.
  void serve(Files files);
  /// Answers GET at `path` with what `answer` returns. It runs on the server's thread.
  void on_get(const std::string& path, std::function<Response(const Request&)> answer);
  /// Accepts WebSockets at a path.
  void on_channel(ChannelOptions options, MakeHandler make);

  /// Begins to serve.
  void start();

  std::uint16_t port() const;
  /// Returns the address of the server with the token of the role, such as "http://127.0.0.1:38411/?token=...".
  std::string url(Role role) const;
  Counters counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::web
