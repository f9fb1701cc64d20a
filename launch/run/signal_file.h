// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>

#include "launch/run/file_descriptor.h"
#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// A source of signals as events of the poll loop. The constructor blocks the signals in the calling thread, and in
/// threads that this thread starts later. The callback runs as ordinary code in the poll loop, so the restrictions on
/// signal handlers do not apply to it.
class SignalFile {
 public:
  /// Blocks the signals, and calls `on_signal` with each signal that arrives. Throws kIo if the system cannot provide a
  /// signalfd.
  SignalFile(PollLoop& loop, std::initializer_list<int> signals, std::function<void(int signal)> on_signal);
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
