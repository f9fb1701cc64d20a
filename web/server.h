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

/// The limits on the resources that the clients of a server can use.
struct Limits {
  /// The maximum number of connections. When a further one arrives, the oldest one that has not presented a token is
  /// closed or, if there is none, the new one.
  std::size_t connections = 128;
  /// The maximum number of connections that have not presented a token yet. When a further one arrives, the oldest is
  /// closed, so that idle connections cannot keep others out.
  std::size_t guests = 32;
  std::size_t head_bytes = 8192;          ///< The maximum size of the head of a request.
  std::size_t message_bytes = 64u << 10;  ///< The maximum size of a message that a client sends over a WebSocket.
  std::size_t queued_bytes = 4u << 20;    ///< The maximum number of bytes that wait to be sent over one WebSocket.
  /// The maximum time for the TLS handshake of a connection, and then again for its first request to arrive completely.
  std::chrono::milliseconds handshake{10'000};
  std::chrono::milliseconds idle{60'000};  ///< The maximum time without a sign of life from the client.
};

/// The address at which a server listens, its tokens, and its limits.
struct Settings {
  std::string address = "127.0.0.1";  ///< An IP address.
  std::uint16_t port = 0;             ///< The port; 0 lets the kernel choose.
  /// Further names under which clients reach the server. Needed if `address` stands for all addresses (0.0.0.0, ::).
  std::vector<std::string> names;
  std::string certificate;  ///< The path of a PEM file with the certificate and its chain; empty for no TLS.
  std::string key;          ///< The path of a PEM file with the private key of the certificate.
  /// The tokens of the two roles. If a token is empty, the server makes a new one.
  std::string control_token, watch_token;
  Limits limits;
};

/// Counters of events at a server.
struct Counters {
  std::uint64_t connections = 0;  ///< The number of connections that exist now.
  std::uint64_t accepted = 0;     ///< The number of connections that have been accepted so far.
  std::uint64_t refused = 0;      ///< The number of requests that the gatekeeper has refused.
  std::uint64_t turned_away = 0;  ///< The number of connections that were closed because there were too many.
  std::uint64_t missed = 0;       ///< The number of messages that slow clients have missed.
};

/// A small HTTP and WebSocket server that runs on a separate thread. Before start() is called, the program registers
/// files, paths that answer GET requests, and paths that accept WebSockets.
///
/// Every request needs a token (gatekeeper.h), even on loopback, because other users of the same machine can connect
/// there. On any other interface, the server starts only with TLS.
class Server {
 public:
  /// Binds the address, so that the port is known. Throws kInvalidArgument for settings that are not allowed, such as
  /// an address outside of loopback without a certificate; kIo if the address cannot be bound; and kNotFound or
  /// kCorrupt if the file of the certificate or the key is missing or cannot be used.
  explicit Server(Settings settings);
  /// Closes all connections and ends the thread. Handlers of channels are destroyed.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Serves these files at their paths.
  void serve(Files files);
  /// Answers GET requests for `path` with the result of `answer`, which is called on the server's thread.
  void on_get(const std::string& path, std::function<Response(const Request&)> answer);
  /// Accepts WebSockets at the path in `options`. `make` is called for each new WebSocket and returns its handler.
  void on_channel(ChannelOptions options, MakeHandler make);

  /// Starts the thread that serves clients. No path or file may be registered afterwards.
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
