// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/run/file_descriptor.h"

namespace trainyard::launch {

/// An attempt to connect to the ports of another host without saying anything there. ZeroMQ tries again and again and
/// does not tell why it fails; this tells it. The attempt needs no event loop and never waits.
class Knock {
 public:
  /// Begins to connect. Throws kInvalidArgument if `address` is not an IPv4 address.
  Knock(const std::string& address, const std::vector<std::uint16_t>& ports);

  /// Returns what has happened so far, as a sentence that follows the name of the host: "refuses connections at ...".
  /// `key` describes the key that this host presents.
  std::string finding(const std::string& key);

 private:
  struct Attempt {
    std::uint16_t port = 0;
    FileDescriptor socket;
    int error = 0;  ///< The value of errno: EINPROGRESS until something has happened, and 0 if the port is open.
  };

  void look();
  std::string ports_text() const;

  std::vector<Attempt> attempts_;
};

}  // namespace trainyard::launch
