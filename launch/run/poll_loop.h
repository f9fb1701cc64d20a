// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace trainyard::launch {

/// The event loop of the launcher's only thread. It waits for file descriptors, ZeroMQ sockets and timers, and calls
/// their callbacks. A callback can add and remove watches and timers, including its own. An exception from a callback
/// propagates out of run(). Components use a different event loop (core/loop), which is faster but cannot watch file
/// descriptors.
///
/// Time during which this process is stopped, by Ctrl-Z or in a debugger, does not count for timers.
class PollLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using Callback = std::function<void()>;
  using Id = std::uint64_t;

  /// Watches a file descriptor, and calls `callback` whenever it is readable or at its end. Returns an id for cancel().
  Id watch_file(int file, Callback callback);

  /// Watches a ZeroMQ socket, and calls `callback` whenever a message has arrived. Returns an id for cancel().
  Id watch_socket(void* socket, Callback callback);

  /// Returns the current time for timers: the steady clock minus the time during which this process was stopped.
  Clock::time_point now() const { return Clock::now() - stopped_; }

  /// Calls `callback` once, after `delay`. Returns an id for cancel().
  Id after(std::chrono::milliseconds delay, Callback callback);

  /// Removes a watch or a timer. Does nothing if the id is unknown.
  void cancel(Id id);

  /// Runs until quit() is called. Returns immediately if quit() has been called since the last run.
  void run();
  /// Makes run() return as soon as the callbacks that are already due have been called.
  void quit() { quit_ = true; }

  /// Waits for the next event, for at most `longest`, and calls the callbacks of all watches and timers that are due.
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
  // Waits, and returns the ids of the watches whose callbacks must be called.
  std::vector<Id> wait(std::chrono::milliseconds longest);

  std::map<Id, Watch> watches_;
  std::map<Id, Timer> timers_;
  Id next_id_ = 1;
  std::optional<Clock::time_point> awake_;  ///< The time at which the loop last woke up.
  /// The total time during which this process was stopped, as far as the loop has detected it.
  Clock::duration stopped_{};
  bool quit_ = false;
};

}  // namespace trainyard::launch
