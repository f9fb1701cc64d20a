// SPDX-License-Identifier: Apache-2.0
#include "streams/handshake.h"

#include <algorithm>
#include <string_view>

namespace trainyard::streams {
namespace {

/// The last two characters are the version of the protocol.
constexpr std::array<char, 8> kMagic{'T', 'Y', 'S', 'T', 'R', 'M', '0', '2'};

constexpr std::string_view kHello = "hello";
constexpr std::string_view kAnswer = "answer";
constexpr std::string_view kConfirmation = "confirmation";
constexpr std::string_view kAcknowledgement = "acknowledgement";

Nonce random_nonce() {
  const Secret random = Secret::random();
  Nonce nonce{};
  std::ranges::copy(random.bytes(), nonce.begin());
  return nonce;
}

Bytes route_of(const Hello& hello) { return std::as_bytes(std::span(&hello.route, 1)); }

/// Derives the secret of one direction from everything that both sides have exchanged.
Secret stream_secret(const Secret& pair, const Binding& binding, const Hello& hello, const Answer& answer,
                     std::string_view direction) {
  return pair.derive(direction, {binding, route_of(hello), hello.nonce, answer.nonce});
}

constexpr std::string_view kForward = "from the member that connected";
constexpr std::string_view kBackward = "to the member that connected";

}  // namespace

ConnectingHandshake::ConnectingHandshake(const Secret& pair, const Binding& binding, const Route& route)
    : pair_(pair), binding_(binding) {
  hello_.magic = kMagic;
  hello_.route = route;
  hello_.nonce = random_nonce();
  hello_.proof = pair_.prove(kHello, {binding_, route_of(hello_), hello_.nonce});
}

std::optional<Confirmation> ConnectingHandshake::confirm(const Answer& answer) {
  if (!pair_.accepts(answer.proof, kAnswer, {binding_, route_of(hello_), hello_.nonce, answer.nonce})) return {};
  answer_ = answer;
  return Confirmation{pair_.prove(kConfirmation, {binding_, route_of(hello_), hello_.nonce, answer.nonce})};
}

bool ConnectingHandshake::acknowledged_by(const Acknowledgement& acknowledgement) const {
  return pair_.accepts(acknowledgement.proof, kAcknowledgement,
                       {binding_, route_of(hello_), hello_.nonce, answer_.nonce});
}

StreamSecrets ConnectingHandshake::secrets() const {
  return {stream_secret(pair_, binding_, hello_, answer_, kForward),
          stream_secret(pair_, binding_, hello_, answer_, kBackward)};
}

bool AcceptingHandshake::is_hello(const Hello& hello) { return hello.magic == kMagic && hello.unused == 0; }

AcceptingHandshake::AcceptingHandshake(const Secret& pair, const Binding& binding, const Hello& hello)
    : pair_(pair), binding_(binding), hello_(hello) {}

std::optional<Answer> AcceptingHandshake::answer() {
  if (!pair_.accepts(hello_.proof, kHello, {binding_, route_of(hello_), hello_.nonce})) return {};
  answer_.nonce = random_nonce();
  answer_.proof = pair_.prove(kAnswer, {binding_, route_of(hello_), hello_.nonce, answer_.nonce});
  return answer_;
}

bool AcceptingHandshake::confirmed_by(const Confirmation& confirmation) const {
  return pair_.accepts(confirmation.proof, kConfirmation, {binding_, route_of(hello_), hello_.nonce, answer_.nonce});
}

Acknowledgement AcceptingHandshake::acknowledgement() const {
  return {pair_.prove(kAcknowledgement, {binding_, route_of(hello_), hello_.nonce, answer_.nonce})};
}

StreamSecrets AcceptingHandshake::secrets() const {
  return {stream_secret(pair_, binding_, hello_, answer_, kBackward),
          stream_secret(pair_, binding_, hello_, answer_, kForward)};
}

}  // namespace trainyard::streams
