// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/run/signal_file.h"

namespace trainyard::tools {

/// Lets a verb ask between two steps whether the user has pressed Ctrl-C, so that it can finish in order. From the
/// construction of the object on, even after its destruction, SIGINT and SIGTERM do not end the program. The object
/// must be made before the process has any other thread, and therefore before any socket.
class Interrupt {
 public:
  /// Returns true if one of the signals has arrived since the object was made or since the last call.
  bool requested() const;

 private:
  launch::BlockedSignals signals_{SIGINT, SIGTERM};
};

}  // namespace trainyard::tools
