// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <zmq.hpp>

namespace trainyard::core {

/// The key pair that all members of a run share. The launcher makes it for each run, and hands it to every process that
/// it starts with components. Whoever does not have it cannot be a member: its sockets accept nobody else, and messages
/// between members are encrypted and cannot be forged (CURVE, docs/decisions/0018).
struct RunKeys {
  std::string public_key;  ///< 40 characters of Z85, as libzmq writes keys.
  std::string secret_key;

  /// Makes a new pair. Throws kUnsupported if libzmq was built without CURVE.
  static RunKeys make();
  /// Reads what text() has written. Without text the keys are empty. Throws kCorrupt.
  static RunKeys read(std::string_view text);
  /// The keys as text, for the channel through which they are handed over. It must be one that others cannot read.
  std::string text() const;

  /// Without keys, a process can only use sockets of the local file system.
  bool empty() const { return public_key.empty(); }
};

/// Makes a socket that will be bound accept members only. Every key that connects is then examined by the Admission of
/// the context. Does nothing if the keys are empty. Throws kInternal if the context has no Admission: libzmq would then
/// accept every key.
void accept_members(zmq::context_t& context, zmq::socket_t& socket, const RunKeys& keys);

/// Makes a socket that will be connected present itself as a member, and expect a member at the other end. Does nothing
/// if the keys are empty.
void present_as_member(zmq::socket_t& socket, const RunKeys& keys);

/// Checks an address that a member binds or connects to: TCP requires keys, and loopback. Throws kUnsupported.
void check_member_address(const std::string& address, const RunKeys& keys);

}  // namespace trainyard::core
