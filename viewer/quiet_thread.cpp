// SPDX-License-Identifier: Apache-2.0
#include "viewer/quiet_thread.h"

#include <signal.h>

#include <utility>

namespace trainyard::viewer {

std::thread quiet_thread(std::function<void()> work) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(work));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace trainyard::viewer
