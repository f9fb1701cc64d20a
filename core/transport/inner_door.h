// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zmq.hpp>

#include "core/files/file_descriptor.h"

namespace trainyard::core {

/// The address of a socket of ZeroMQ to which only this object can connect: a Unix socket whose path is removed as soon
/// as the socket has been bound. So nothing is left when the process is killed.
class InnerDoor {
 public:
  /// Binds `socket`, with room for `most_pending` connections that arrive at the same moment. Throws kIo if this fails,
  /// and kUnsupported if /proc is not there.
  InnerDoor(zmq::socket_t& socket, int most_pending);

  /// Returns a connection to the socket, or none if it cannot be made now.
  FileDescriptor connect() const;

 private:
  FileDescriptor door_;  ///< The Unix socket as a file (O_PATH).
};

}  // namespace trainyard::core
