// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/run/signal_file.h"

namespace trainyard::tools {

/// Lets a verb check between two steps whether the user has pressed Ctrl-C, so that it can still print its results
/// before it ends. From the creation of this object on, SIGINT and SIGTERM do not end the program, not even after the
/// object has been destroyed. It must be created while the process has only one thread, and thus before any socket.
class Interrupt {
 public:
  /// Returns true if one of the signals has arrived since the last call, or, at the first call, since this object was
  /// created.
  bool requested() const;

 private:
  launch::BlockedSignals signals_{SIGINT, SIGTERM};
};

}  // namespace trainyard::tools
