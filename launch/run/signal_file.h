// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <functional>
#include <initializer_list>

#include "launch/run/file_descriptor.h"
#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// Signals that are blocked in the thread that makes this object, and in all threads that it starts later. Must be
/// constructed before the process has any other thread, because the kernel would deliver the signals to a thread that
/// does not block them. In such a thread, SIGCHLD would be ignored, and the other signals would end the process. The
/// signals remain blocked after the object has been destroyed.
class BlockedSignals {
 public:
  explicit BlockedSignals(std::initializer_list<int> signals);

  const sigset_t& set() const { return set_; }

 private:
  sigset_t set_;
};

/// Delivers blocked signals as events of the poll loop. The callback runs as ordinary code in the poll loop, so the
/// restrictions on signal handlers do not apply to it.
class SignalFile {
 public:
  /// Calls `on_signal` for every signal that arrives, including those that have arrived since the signals were blocked.
  /// Throws kIo if the system cannot provide a signalfd.
  SignalFile(PollLoop& loop, const BlockedSignals& signals, std::function<void(int signal)> on_signal);
  ~SignalFile();
  SignalFile(const SignalFile&) = delete;
  SignalFile& operator=(const SignalFile&) = delete;

 private:
  void read();

  PollLoop& loop_;
  std::function<void(int)> on_signal_;
  FileDescriptor file_;
  PollLoop::Id watch_ = 0;
};

}  // namespace trainyard::launch
