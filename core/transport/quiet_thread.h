// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <thread>
#include <utility>

#include "messages/error.h"

namespace trainyard::core {

/// Blocks all signals in this thread as long as the object exists.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

/// Starts a thread in which all signals are blocked, because they are meant for the threads of the program. `name` has
/// at most 15 characters. Throws kIo if the system cannot start another thread.
template <class Body>
std::thread quiet_thread(const char* name, Body&& body) {
  const SignalsBlocked blocked;  // A thread inherits the signals that are blocked.
  try {
    std::thread thread(std::forward<Body>(body));
    ::pthread_setname_np(thread.native_handle(), name);
    return thread;
  } catch (const std::system_error& error) {
    throw Error(Code::kIo, "cannot start the thread '{}': {}", name, error.what());
  }
}

}  // namespace trainyard::core
