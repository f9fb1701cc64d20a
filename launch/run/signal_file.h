// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>

#include "launch/run/file_descriptor.h"
#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// Delivers signals as events of the poll loop. From its construction on, they are blocked in this thread and in the
/// threads that it starts. A handler is therefore ordinary code, to which the rules of asynchronous signals do not
/// apply.
class SignalFile {
 public:
  /// Blocks the signals and calls `on_signal` for each one that arrives. Throws kIo.
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
