// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <time.h>

namespace trainyard::tools {

/// Keeps Ctrl-C from ending the command before its file is closed. As long as this object exists, the signal is pending
/// until came() is called.
class Interrupts {
 public:
  Interrupts() {
    ::sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set_, number);
    ::pthread_sigmask(SIG_BLOCK, &set_, &old_);
  }
  ~Interrupts() { ::pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

  /// Returns true if the user has pressed Ctrl-C.
  bool came() const {
    const struct timespec none {};
    return ::sigtimedwait(&set_, nullptr, &none) > 0;
  }

 private:
  sigset_t set_{}, old_{};
};

}  // namespace trainyard::tools
