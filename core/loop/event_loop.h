// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/edge/delivery.h"
#include "core/loop/wakeup.h"

namespace trainyard::core {

/// A source of work for an event loop, such as an edge from another thread, or a socket. The loop does not own its
/// sources. A source must be removed, on the loop's thread, before it is destroyed.
class Source {
 public:
  virtual ~Source() = default;

  /// Does a bounded amount of work. Returns true if there was any work.
  virtual bool poll() = 0;

  /// Returns true if poll() would now do something. A source with a socket may always return false, since the loop
  /// waits for the socket.
  virtual bool has_work() const = 0;

  /// Returns a ZeroMQ socket (void*) that becomes readable when there is work, or null if the source wakes the loop by
  /// itself.
  virtual void* socket() const { return nullptr; }
};

/// A loop that runs the handlers of all components that share a thread, one after another.
///
/// A message between two of these components is an entry in the loop's queue, which needs no lock and no system call.
/// Other threads use sources and post(). When there is nothing to do, the loop sleeps in one poll call that covers its
/// wake-up and its sockets.
class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using TimerId = std::uint64_t;

  /// `name` is the name of the thread in the plan. The loop belongs to the thread that calls run().
  explicit EventLoop(std::string name);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  const std::string& name() const { return name_; }

  /// Runs `task` on the loop's thread. Any thread may call this; tasks run in the order of the calls. Exceptions of
  /// `task` are not caught, so a task that calls code of a component must use Component::guarded.
  void post(std::function<void()> task);

  /// Runs `task` once on the loop's thread after `delay`. Only the loop's thread may call this. The delay is measured
  /// by the steady clock. If the loop is busy, the task runs later. Returns an id for cancel().
  TimerId after(std::chrono::milliseconds delay, std::function<void()> task);
  /// Cancels the task; does nothing if it has already run.
  void cancel(TimerId timer);

  /// Passes a message to its input when the current handler has returned. Only the loop's thread may call this.
  void enqueue(Delivery delivery);

  /// Adds a source, which the loop then polls. May be called on the loop's thread, or before run().
  void add(Source& source);
  /// Stops polling the source. Only the loop's thread may call this.
  void remove(Source& source);

  /// Runs the loop until stop() is called. The loop looks for work at least once a second, even if nothing wakes it.
  void run();
  /// Does all pending work without sleeping. Returns true if there was any.
  bool run_once();
  /// Sleeps until there may be something to do, for at most `limit`.
  void wait(std::chrono::milliseconds limit);

  /// Ends run(). Any thread may call this.
  void stop();
  /// Wakes the loop if it sleeps. Any thread may call this, but must first make its work visible to other threads. If
  /// the loop is awake, the call costs one atomic load.
  void wake() { wakeup_.notify(); }
  /// Returns a handle that other processes can use to wake the loop.
  WakeupHandle wakeup_handle() const { return wakeup_.handle(); }

  /// Returns the trace (Header::trace) of the message that is being handled. Messages that the handler sends get the
  /// same trace.
  std::uint64_t trace() const { return trace_; }
  void set_trace(std::uint64_t trace) { trace_ = trace; }

 private:
  /// A queue that never frees its memory: a ring whose size doubles when it is full.
  class Queue {
   public:
    bool empty() const { return head_ == tail_; }
    void push(Delivery delivery);
    Delivery pop();

   private:
    std::vector<Delivery> slots_ = std::vector<Delivery>(64);
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
  };

  bool run_queue();
  bool run_posted();
  bool run_timers();
  bool has_work() const;
  // Rounds up, so that the loop does not wake before a timer is due.
  int sleep_ms(std::chrono::milliseconds limit) const;

  std::string name_;
  Wakeup wakeup_;
  Queue queue_;
  std::vector<Source*> sources_;
  std::multimap<Clock::time_point, std::pair<TimerId, std::function<void()>>> timers_;
  TimerId next_timer_ = 1;
  std::uint64_t trace_ = 0;

  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
  std::atomic<bool> any_posted_{false};
  std::atomic<bool> stopping_{false};
};

}  // namespace trainyard::core
