// SPDX-License-Identifier: Apache-2.0
#include "components/foxglove/quiet_thread.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace trainyard::foxglove {

std::thread quiet_thread(std::function<void()> work) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread([work = std::move(work)] {
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
    work();
  });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace trainyard::foxglove
