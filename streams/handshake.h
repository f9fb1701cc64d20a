// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "streams/secret.h"

namespace trainyard::streams {

/// Which stream a connection is to become: number `stream` of those between members `from`, which connects, and `to`.
struct Route {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t stream = 0;
};

using Nonce = std::array<std::byte, 32>;

/// The first message of a handshake. All messages have fixed sizes, so that a stranger cannot make anybody allocate.
struct Hello {
  std::array<char, 8> magic{};
  Route route;
  std::uint32_t unused = 0;
  Nonce nonce{};
  Proof proof{};
};
static_assert(sizeof(Hello) == 88);

/// The second message, from the member that was connected to.
struct Answer {
  Nonce nonce{};
  Proof proof{};
};
static_assert(sizeof(Answer) == 64);

/// The third message. Only it shows that a Hello is not an old one that somebody repeats.
struct Confirmation {
  Proof proof{};
};

/// The secrets of the two directions of a stream.
struct StreamSecrets {
  Secret sent;      ///< For what this member sends.
  Secret received;  ///< For what this member receives.
};

/// A handshake at the member that connects. `pair` is the secret of the two members, and `binding` identifies what the
/// stream is for: members with another pair secret or another binding refuse each other. Every handshake leads to new
/// secrets, so nothing of an earlier stream is accepted in this one.
class ConnectingHandshake {
 public:
  ConnectingHandshake(const Secret& pair, const Binding& binding, const Route& route);

  const Hello& hello() const { return hello_; }
  /// Returns the message to send, or nothing if the answer does not come from the member that was meant.
  std::optional<Confirmation> confirm(const Answer& answer);
  /// Returns the secrets, after confirm() has returned a message.
  StreamSecrets secrets() const;

 private:
  Secret pair_;
  Binding binding_;
  Hello hello_;
  Answer answer_;
};

/// A handshake at the member that was connected to.
class AcceptingHandshake {
 public:
  /// Returns true if `hello` has the form of a Hello. This says nothing about who sent it.
  static bool is_hello(const Hello& hello);

  /// `hello` must have the form of a Hello, and `pair` is the secret of this member and the member hello.route.from.
  AcceptingHandshake(const Secret& pair, const Binding& binding, const Hello& hello);

  /// Returns the message to send, or nothing if the sender of the Hello does not know the secret or means another
  /// binding.
  std::optional<Answer> answer();
  bool confirmed_by(const Confirmation& confirmation) const;
  /// Returns the secrets, after confirmed_by() has returned true.
  StreamSecrets secrets() const;

 private:
  Secret pair_;
  Binding binding_;
  Hello hello_;
  Answer answer_;
};

}  // namespace trainyard::streams
