// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "streams/secret.h"

namespace trainyard::streams {

/// Identifies a stream between two members, which are usually ranks of a group: `from` connects, `to` accepts, and
/// `stream` is the number of the stream among those between the two members.
struct Route {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t stream = 0;
};

using Nonce = std::array<std::byte, 32>;

/// The first message of a handshake. All messages of a handshake have fixed sizes, so that an unknown sender cannot
/// make the receiver allocate memory.
struct Hello {
  std::array<char, 8> magic{};
  Route route;
  std::uint32_t unused = 0;
  Nonce nonce{};
  Proof proof{};
};
static_assert(sizeof(Hello) == 88);

/// The second message of a handshake, from the member that has accepted the connection.
struct Answer {
  Nonce nonce{};
  Proof proof{};
};
static_assert(sizeof(Answer) == 64);

/// The third message of a handshake, from the member that has connected. It proves that the Hello is new, and not a
/// copy of an earlier Hello that somebody has recorded.
struct Confirmation {
  Proof proof{};
};

/// The last message of a handshake, from the member that has accepted the connection. It proves that this member has
/// admitted the connection. Before it arrives, the member that has connected cannot know this, because the other member
/// may have closed the connection after its Answer.
struct Acknowledgement {
  Proof proof{};
};

/// The secrets of a stream as one of its two members uses them, one for each direction.
struct StreamSecrets {
  Secret sent;      ///< The secret for everything that the member sends.
  Secret received;  ///< The secret for everything that the member receives.
};

/// The part of a handshake that runs at the connecting member. `pair` is the secret that the two members share, and
/// `binding` identifies the purpose of the stream. If either differs between the two members, they refuse each other.
/// Every handshake yields new secrets, so nothing that was recorded from an earlier stream is accepted.
class ConnectingHandshake {
 public:
  ConnectingHandshake(const Secret& pair, const Binding& binding, const Route& route);

  const Hello& hello() const { return hello_; }
  /// Checks the answer, and returns the message to send next. Returns nothing if the answer does not come from the
  /// intended member.
  std::optional<Confirmation> confirm(const Answer& answer);
  /// Returns true if the intended member has admitted the connection. Call this only after confirm() has returned a
  /// message.
  bool acknowledged_by(const Acknowledgement& acknowledgement) const;
  /// Returns the secrets of the stream. Call this only after confirm() has returned a message.
  StreamSecrets secrets() const;

 private:
  Secret pair_;
  Binding binding_;
  Hello hello_;
  Answer answer_;
};

/// The part of a handshake that runs at the accepting member. Call answer(), then confirmed_by(), then
/// acknowledgement() and secrets().
class AcceptingHandshake {
 public:
  /// Returns true if `hello` has the form of a Hello. This does not show who has sent it.
  static bool is_hello(const Hello& hello);

  /// Call this only if is_hello(hello) is true. `pair` is the secret that the accepting member shares with the
  /// connecting member, `hello.route.from`.
  AcceptingHandshake(const Secret& pair, const Binding& binding, const Hello& hello);

  /// Returns the message to send next, or nothing if the sender of the Hello does not have the secret or has used
  /// another binding.
  std::optional<Answer> answer();
  bool confirmed_by(const Confirmation& confirmation) const;
  /// Returns the message to send when the connection is admitted. Call this only after confirmed_by() has returned
  /// true.
  Acknowledgement acknowledgement() const;
  /// Returns the secrets of the stream. Call this only after confirmed_by() has returned true.
  StreamSecrets secrets() const;

 private:
  Secret pair_;
  Binding binding_;
  Hello hello_;
  Answer answer_;
};

}  // namespace trainyard::streams
