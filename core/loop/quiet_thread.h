// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <functional>
#include <thread>

namespace trainyard::core {

/// Blocks all signals in this thread as long as the object exists. In threads that this thread starts during that time,
/// the signals remain blocked.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

/// Starts a thread in which all signals are blocked, because other threads of the program handle them. `name` is at
/// most 15 characters long. Throws kIo if the system cannot start another thread.
std::thread quiet_thread(const char* name, std::function<void()> body);

/// Lowers the priority of the calling thread, and of no other, so that training gets the processor first.
void lower_priority();

}  // namespace trainyard::core
