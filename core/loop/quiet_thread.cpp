// SPDX-License-Identifier: Apache-2.0
#include "core/loop/quiet_thread.h"

#include <pthread.h>
#include <sys/resource.h>

#include <system_error>
#include <utility>

#include "messages/error.h"

namespace trainyard::core {

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::thread quiet_thread(const char* name, std::function<void()> body) {
  const SignalsBlocked blocked;
  try {
    std::thread thread(std::move(body));
    ::pthread_setname_np(thread.native_handle(), name);
    return thread;
  } catch (const std::system_error& error) {
    throw Error(Code::kIo, "cannot start the thread '{}': {}", name, error.what());
  }
}

// On Linux, each thread has a priority of its own, and 0 means the calling thread.
void lower_priority() {
  constexpr int kLess = 10;
  ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + kLess);
}

}  // namespace trainyard::core
