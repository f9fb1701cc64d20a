// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/transport/run_keys.h"

namespace trainyard::launch {

/// The ROUTER socket at which the members of a run report, for one poll loop. Its functions never wait. The first frame
/// of what it receives and sends is the peer's identity.
class RouterSocket {
 public:
  using Frames = std::vector<std::string>;

  /// Binds the address. With keys, only members can connect (core::accept_members). Throws kIo with the address and the
  /// reason.
  RouterSocket(zmq::context_t& context, const std::string& endpoint, const core::RunKeys& keys);

  /// Sends a message. Returns false if there is no such peer, or if too many earlier messages to it are unread.
  bool send(const Frames& frames);

  /// Returns the next message, if there is one.
  std::optional<Frames> receive();

  void* handle() { return socket_.handle(); }

 private:
  zmq::socket_t socket_;
};

}  // namespace trainyard::launch
