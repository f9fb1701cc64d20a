// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <zmq.hpp>

namespace trainyard::core {

/// The key pair that all members of a run (the launcher and the processes that host components) share. The launcher
/// makes a pair for each run and passes it to every process that hosts components. A process without the pair cannot be
/// a member: the sockets of members accept connections only from members, and messages between members are encrypted
/// and cannot be forged (CURVE, docs/decisions/0019).
struct RunKeys {
  std::string public_key;  ///< The public key: 40 characters in Z85 encoding, which libzmq uses for keys.
  std::string secret_key;

  /// Makes a new pair. Throws kUnsupported if libzmq was built without CURVE.
  static RunKeys make();
  /// Reads the keys from a string that text() has returned. An empty string yields empty keys. Throws kCorrupt if the
  /// length of the text is not that of a key pair.
  static RunKeys read(std::string_view text);
  /// Returns the keys as text. The text must be passed on only through a channel that others cannot read.
  std::string text() const;

  /// Returns true if there are no keys. A process without keys cannot use TCP, only ipc and inproc.
  bool empty() const { return public_key.empty(); }
};

/// Makes `socket`, which must not be bound yet, accept only members of the run. The Admission of the context then
/// checks the key of every connection. Does nothing if the keys are empty. Throws kInternal if the context has no
/// Admission, because libzmq would then accept every key.
void accept_members(zmq::context_t& context, zmq::socket_t& socket, const RunKeys& keys);

/// Makes `socket`, which must not be connected yet, present itself as a member and connect only to members. Does
/// nothing if the keys are empty.
void present_as_member(zmq::socket_t& socket, const RunKeys& keys);

/// Checks an address that a member binds or connects to. Throws kUnsupported for an address that is not ipc, inproc or
/// tcp, and for TCP without keys, even on loopback, which check_address() would allow.
void check_member_address(const std::string& address, const RunKeys& keys);

}  // namespace trainyard::core
