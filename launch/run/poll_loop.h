// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace trainyard::launch {

/// The event loop of the launcher's only thread. It waits for files, ZeroMQ sockets and timers, and calls their
/// callbacks. Callbacks may add and remove watches, including their own. run() passes on their exceptions. The event
/// loop of components (core/loop) is a different class: that one must be fast, whereas this one can also watch plain
/// files.
///
/// Time in which this process was stopped, by Ctrl-Z or in a debugger, does not count for its timers.
class PollLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using Callback = std::function<void()>;
  using Id = std::uint64_t;

  /// Calls `callback` whenever `file` can be read or has ended.
  Id watch_file(int file, Callback callback);

  /// Calls `callback` whenever the ZeroMQ socket has a message.
  Id watch_socket(void* socket, Callback callback);

  /// Returns the time of the timers. It is the steady clock without the time in which this process was stopped.
  Clock::time_point now() const { return Clock::now() - stopped_; }

  /// Calls `callback` once, after `delay`.
  Id after(std::chrono::milliseconds delay, Callback callback);

  /// Removes a watch or a timer. An unknown id does nothing.
  void cancel(Id id);

  /// Runs until `quit`; returns at once if `quit` was called before.
  void run();
  void quit() { quit_ = true; }

  /// Waits for the next event, for at most `longest`, and serves all that are due.
  void run_once(std::chrono::milliseconds longest);

 private:
  struct Watch {
    int file = -1;
    void* socket = nullptr;
    Callback callback;
  };
  struct Timer {
    Clock::time_point when;
    Callback callback;
  };

  void serve_timers();
  void serve_watches(const std::vector<Id>& ready);
  std::chrono::milliseconds until_next_timer(std::chrono::milliseconds longest) const;
  // Waits and returns the ids of the watches that have something to do.
  std::vector<Id> wait(std::chrono::milliseconds longest);

  std::map<Id, Watch> watches_;
  std::map<Id, Timer> timers_;
  Id next_id_ = 1;
  std::optional<Clock::time_point> awake_;  ///< When it last woke up.
  Clock::duration stopped_{};               ///< For how long this process was stopped, as far as it has noticed.
  bool quit_ = false;
};

}  // namespace trainyard::launch
