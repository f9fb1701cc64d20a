// SPDX-License-Identifier: Apache-2.0
#include "core/transport/run_keys.h"

#include "core/transport/admission.h"
#include "core/transport/frames.h"
#include "messages/error.h"

namespace trainyard::core {
namespace {

constexpr std::size_t kKeyCharacters = 40;

/// The ZAP domain of the sockets. With an empty domain, libzmq would not check keys.
constexpr const char* kDomain = "run";

/// The time after which a peer that has not completed the handshake is disconnected.
constexpr int kHandshakeMilliseconds = 10'000;

void set_pair(zmq::socket_t& socket, const RunKeys& keys) {
  socket.set(zmq::sockopt::curve_publickey, keys.public_key);
  socket.set(zmq::sockopt::curve_secretkey, keys.secret_key);
  socket.set(zmq::sockopt::handshake_ivl, kHandshakeMilliseconds);
}

/// Throws unless the context has an Admission. Only one socket of a context can be bound to the address at which libzmq
/// asks, so binding fails if there is an Admission.
void require_admission(zmq::context_t& context) {
  zmq::socket_t probe(context, zmq::socket_type::rep);
  try {
    probe.bind(kAdmissionAddress);
  } catch (const zmq::error_t& error) {
    if (error.num() == EADDRINUSE) return;
    throw Error(Code::kIo, "cannot look for the admission of members: {}", error.what());
  }
  throw Error(Code::kInternal, "a socket for members was made before the {} that examines their keys", "Admission");
}

}  // namespace

RunKeys RunKeys::make() {
  char public_key[kKeyCharacters + 1] = {};
  char secret_key[kKeyCharacters + 1] = {};
  if (zmq_curve_keypair(public_key, secret_key) != 0) {
    throw Error(Code::kUnsupported, "cannot make the keys of the run: {}; libzmq must be built with CURVE",
                zmq_strerror(zmq_errno()));
  }
  return {public_key, secret_key};
}

RunKeys RunKeys::read(std::string_view text) {
  if (text.empty()) return {};
  // The error does not contain the keys, because a reader of the log must not learn them.
  if (text.size() != 2 * kKeyCharacters) {
    throw Error(Code::kCorrupt, "the keys of the run have {} characters; {} are needed", text.size(),
                2 * kKeyCharacters);
  }
  return {std::string(text.substr(0, kKeyCharacters)), std::string(text.substr(kKeyCharacters))};
}

std::string RunKeys::text() const { return public_key + secret_key; }

void accept_members(zmq::context_t& context, zmq::socket_t& socket, const RunKeys& keys) {
  if (keys.empty()) return;
  require_admission(context);
  set_pair(socket, keys);
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::zap_domain, kDomain);
}

void present_as_member(zmq::socket_t& socket, const RunKeys& keys) {
  if (keys.empty()) return;
  set_pair(socket, keys);
  socket.set(zmq::sockopt::curve_serverkey, keys.public_key);
}

void check_member_address(const std::string& address, const RunKeys& keys) {
  if (!address.starts_with("tcp://")) return check_address(address);
  if (!keys.empty()) return;
  throw Error(Code::kUnsupported,
              "address {} is refused: over TCP, members know each other by the keys of the run, and this process has "
              "none; the launcher gives them to the processes that it starts",
              address);
}

}  // namespace trainyard::core
