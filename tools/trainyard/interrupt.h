// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/run/signal_file.h"

namespace trainyard::tools {

/// Lets a command check from time to time whether the user has pressed Ctrl-C, so that it can still print its results
/// before it ends. Once this object has been created, SIGINT and SIGTERM no longer end the program, not even after the
/// object has been destroyed. It must be created while the process has only one thread, and thus before any ZeroMQ
/// socket exists.
class Interrupt {
 public:
  /// Returns true if one of the signals has arrived since the last call, or, at the first call, since this object was
  /// created.
  bool requested() const;

 private:
  launch::BlockedSignals signals_{SIGINT, SIGTERM};
};

}  // namespace trainyard::tools
