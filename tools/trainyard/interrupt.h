// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/run/signal_file.h"

namespace trainyard::tools {

/// Ctrl-C as a question that a verb asks between two steps, for verbs that have something to say at their end. While
/// the object exists, and after that, SIGINT and SIGTERM do not end the program. Make it before the process has any
/// other thread, hence before a socket.
class Interrupt {
 public:
  /// Returns true if one of the signals has arrived since the object was made or since the last call.
  bool requested() const;

 private:
  launch::BlockedSignals signals_{SIGINT, SIGTERM};
};

}  // namespace trainyard::tools
