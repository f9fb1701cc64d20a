// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::core {

/// Examines, for a server, the first bytes of a ZeroMQ connection that uses CURVE (ZMTP 3.1, ZeroMQ RFC 37, and
/// CurveZMQ, RFC 26). Each side sends a greeting. Then the client sends the command HELLO, the server WELCOME, the
/// client INITIATE, and the server, if it admits the client's key, READY.
class CurveOpening {
 public:
  static constexpr std::size_t kGreetingBytes = 64;
  /// The size of the signature, the first bytes of a greeting, which shows that the other side speaks ZeroMQ's
  /// protocol.
  static constexpr std::size_t kSignatureBytes = 10;
  /// The size of a client's greeting and its HELLO together. A client sends no more until the server has sent WELCOME.
  static constexpr std::size_t kBytes = kGreetingBytes + 202;

  /// `secret` is the secret key of the server, as 40 characters in Z85 encoding. Throws kInvalidArgument for any other
  /// text, and kUnsupported if libsodium cannot be used.
  explicit CurveOpening(const std::string& secret);
  /// Overwrites the secret key.
  ~CurveOpening();
  CurveOpening(const CurveOpening&) = delete;
  CurveOpening& operator=(const CurveOpening&) = delete;

  /// Returns the greeting that a server sends.
  static std::string server_greeting();

  /// Returns true if `bytes`, of any length, can be the first bytes from a client that uses CURVE.
  static bool is_possible(std::string_view bytes);

  /// Returns true if `bytes`, the first kBytes bytes from a client, prove that the client knows the public key of the
  /// server.
  bool knows_server(std::string_view bytes) const;

  /// Returns the public key that a client has made for this connection alone, as 32 bytes. `bytes` are the first kBytes
  /// bytes from the client; the result refers to them.
  static std::string_view client_key(std::string_view bytes);

  /// Returns true if the server has sent READY, which means that it has admitted the client. `sent` is everything that
  /// the server has sent since the connection began.
  static bool is_admitted(std::string_view sent);

 private:
  std::array<std::uint8_t, 32> secret_{};
};

}  // namespace trainyard::core
