// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <time.h>

namespace trainyard::tools {

/// Prevents Ctrl-C from ending the command before its output file is closed. While this object exists, SIGINT, SIGTERM
/// and SIGHUP are blocked in the thread that created it and in threads that are started later. The destructor unblocks
/// them. Any signal that has arrived but was not reported by came() then takes effect.
class Interrupts {
 public:
  Interrupts() {
    ::sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set_, number);
    ::pthread_sigmask(SIG_BLOCK, &set_, &old_);
  }
  ~Interrupts() { ::pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

  /// Returns true if one of the signals has arrived, that is, if the command should end. Each signal is reported only
  /// once.
  bool came() const {
    const struct timespec none {};
    return ::sigtimedwait(&set_, nullptr, &none) > 0;
  }

 private:
  sigset_t set_{}, old_{};
};

}  // namespace trainyard::tools
