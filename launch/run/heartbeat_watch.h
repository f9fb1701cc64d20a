// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "launch/run/poll_loop.h"

namespace trainyard::launch {

/// Watches for processes that no longer send messages. It only reports such a process and does not end it, because a
/// process that a debugger or SIGSTOP has stopped may continue.
class HeartbeatWatch {
 public:
  using Say = std::function<void(const std::string& sentence)>;

  /// Calls `say` with a sentence for the user about each process that has sent nothing for the time `silence`, and
  /// again when such a process sends its next message. The check is repeated after every tenth of `silence`, so a
  /// report is delayed by at most this much.
  HeartbeatWatch(PollLoop& loop, std::chrono::milliseconds silence, Say say);
  ~HeartbeatWatch();
  HeartbeatWatch(const HeartbeatWatch&) = delete;
  HeartbeatWatch& operator=(const HeartbeatWatch&) = delete;

  /// Records that a process has sent a message. A process is watched from its first message on.
  void heard(const std::string& process);
  /// Stops watching a process that has ended.
  void forget(const std::string& process) { voices_.erase(process); }

 private:
  struct Voice {
    PollLoop::Clock::time_point last;
    bool reported = false;
  };

  void check();

  PollLoop& loop_;
  std::chrono::milliseconds silence_;
  Say say_;
  std::map<std::string, Voice> voices_;
  PollLoop::Id timer_ = 0;
};

}  // namespace trainyard::launch
