// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zmq.hpp>

#include "core/files/file_descriptor.h"

namespace trainyard::core {

/// Binds a ZeroMQ socket so that only this object can connect to it. The socket is bound to the path of a Unix socket,
/// and the path is then removed at once, so no file is left behind if the process is killed.
class InnerDoor {
 public:
  /// Binds `socket`. `most_pending` is the maximum number of connections that wait to be accepted. Throws kIo if this
  /// fails, and kUnsupported if /proc is not mounted.
  InnerDoor(zmq::socket_t& socket, int most_pending);

  /// Returns a new connection to the socket, or an empty FileDescriptor if it cannot be made now.
  FileDescriptor connect() const;

 private:
  FileDescriptor door_;  ///< The file of the Unix socket (O_PATH), which stays usable without its path.
};

}  // namespace trainyard::core
