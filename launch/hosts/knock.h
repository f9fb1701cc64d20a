// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/run/file_descriptor.h"

namespace trainyard::launch {

/// Tries to connect to the ports of another host, and closes the connections without sending anything. Its purpose is
/// diagnosis: ZeroMQ tries again and again without reporting why a connection fails. A Knock needs no event loop and
/// never waits.
class Knock {
 public:
  /// Begins to connect to all of `ports`. Throws kInvalidArgument if `address` is not an IP address.
  Knock(const std::string& address, const std::vector<std::uint16_t>& ports);

  /// Returns the result so far. It continues a sentence that begins with the name of the host, as in "refuses
  /// connections at ...". `key` is the fingerprint of this host's key, with the path of its file. If a port accepts
  /// connections, the result says that the other host probably has another key, and contains this text.
  std::string finding(const std::string& key);

 private:
  struct Attempt {
    std::uint16_t port = 0;
    FileDescriptor socket;
    /// The state of the attempt, as a value of errno: EINPROGRESS until it has succeeded or failed, and 0 if the port
    /// accepts connections.
    int error = 0;
  };

  void look();
  std::string ports_text() const;

  std::vector<Attempt> attempts_;
};

}  // namespace trainyard::launch
