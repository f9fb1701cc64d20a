// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <time.h>

namespace trainyard::tools {

/// Ctrl-C must not end the command before the file is closed. As long as this object exists, the signal waits until
/// someone asks for it.
class Interrupts {
 public:
  Interrupts() {
    ::sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set_, number);
    ::pthread_sigmask(SIG_BLOCK, &set_, &old_);
  }
  ~Interrupts() { ::pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

  /// Returns true if the user wants the command to end.
  bool came() const {
    const struct timespec none {};
    return ::sigtimedwait(&set_, nullptr, &none) > 0;
  }

 private:
  sigset_t set_{}, old_{};
};

}  // namespace trainyard::tools
