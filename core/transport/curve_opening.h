// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::core {

/// The first bytes of a connection of ZeroMQ that uses CURVE (ZMTP 3.1, ZeroMQ RFC 37, and CurveZMQ, RFC 26). Each side
/// sends a greeting. Then the client sends the command HELLO, the server WELCOME, the client INITIATE, and the server,
/// if it admits the client's key, READY.
class CurveOpening {
 public:
  static constexpr std::size_t kGreetingBytes = 64;
  /// How many bytes of a greeting show that the other side speaks the protocol.
  static constexpr std::size_t kSignatureBytes = 10;
  /// The size of what a client sends before the server has proved anything: its greeting and its HELLO.
  static constexpr std::size_t kBytes = kGreetingBytes + 202;

  /// `secret` is the secret key of the server, as 40 characters in the encoding Z85.
  explicit CurveOpening(const std::string& secret);
  /// Overwrites the secret key.
  ~CurveOpening();
  CurveOpening(const CurveOpening&) = delete;
  CurveOpening& operator=(const CurveOpening&) = delete;

  /// Returns the greeting of a server.
  static std::string server_greeting();

  /// Returns false if a client that uses CURVE cannot have sent these bytes first.
  static bool is_possible(std::string_view bytes);

  /// Returns true if the client, which has sent these kBytes bytes, knows the public key of the server.
  bool knows_server(std::string_view bytes) const;

  /// Returns the key that the client, which has sent these kBytes bytes, has made for this connection alone.
  static std::string_view client_key(std::string_view bytes);

  /// Returns true if the server, which has sent these bytes since the beginning of the connection, has sent READY.
  static bool is_admitted(std::string_view sent);

 private:
  std::array<std::uint8_t, 32> secret_{};
};

}  // namespace trainyard::core
