// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zmq.hpp>

#include "core/files/file_descriptor.h"

namespace trainyard::core {

/// Binds a socket of ZeroMQ so that only this object can connect to it: to a Unix socket whose path is removed as soon
/// as the socket has been bound. So no file is left when the process is killed.
class InnerDoor {
 public:
  /// Binds `socket`. `most_pending` is the maximum number of connections that wait to be accepted. Throws kIo if this
  /// fails, and kUnsupported if /proc is not mounted.
  InnerDoor(zmq::socket_t& socket, int most_pending);

  /// Returns a new connection to the socket, or an empty FileDescriptor if it cannot be made now.
  FileDescriptor connect() const;

 private:
  FileDescriptor door_;  ///< The Unix socket as a file (O_PATH).
};

}  // namespace trainyard::core
