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

#include "core/activity/loop_activity.h"
#include "core/edge/delivery.h"
#include "core/loop/wakeup.h"

namespace trainyard::core {

/// A source of work for an event loop, such as an edge (connection) from another thread, or a socket. The loop does not
/// own its sources. A source must be removed, on the loop's thread, before it is destroyed.
class Source {
 public:
  virtual ~Source() = default;

  /// Does a bounded amount of work, and returns true if there was any. The loop calls this function on its thread, in
  /// every round.
  virtual bool poll() = 0;

  /// Returns true if poll() would find work now. A source with a socket may always return false, because the loop waits
  /// for the socket.
  virtual bool has_work() const = 0;

  /// Returns a ZeroMQ socket (void*) that becomes readable when there is work. Returns null if the source has no
  /// socket; code that gives work to the source must then call EventLoop::wake().
  virtual void* socket() const { return nullptr; }
};

/// A loop that runs the handlers of all components that share a thread, one after another.
///
/// Messages between these components go through the loop's queue, which needs no lock and no system call. Work from
/// other threads arrives through sources and post(). When there is nothing to do, the loop sleeps until wake() is
/// called, a socket of a source becomes readable, or a timer is due.
class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using TimerId = std::uint64_t;

  /// `name` is the name of the thread in the plan. The thread that calls run() is the loop's thread.
  explicit EventLoop(std::string name);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  const std::string& name() const { return name_; }
  /// Returns the object that measures how the components of this loop spend their time.
  LoopActivity& activity() { return activity_; }

  /// Runs `task` on the loop's thread. Any thread may call this function; tasks run in the order of the calls.
  /// Exceptions of `task` are not caught, so a task that calls code of a component must use Component::guarded.
  void post(std::function<void()> task);

  /// Runs `task` once on the loop's thread after `delay`. Only the loop's thread may call this function. The delay is
  /// measured by the steady clock, and can be exceeded if the loop is busy. Returns an id for cancel().
  TimerId after(std::chrono::milliseconds delay, std::function<void()> task);
  /// Cancels the task for which after() returned the id `timer`. Does nothing if the task has already run. Only the
  /// loop's thread may call this function.
  void cancel(TimerId timer);

  /// Appends a message and the input that it is for to the queue. The loop passes the message to this input when the
  /// current handler has returned and the earlier messages in the queue have been handled. Only the loop's thread may
  /// call this function.
  void enqueue(Delivery delivery);

  /// Adds a source, whose poll() the loop calls in every round until remove() is called. Call this function on the
  /// loop's thread, or before run().
  void add(Source& source);
  /// Removes a source, which may then be destroyed. Only the loop's thread may call this function.
  void remove(Source& source);

  /// Runs the loop until stop() is called. The loop looks for work at least once a second, even if nothing wakes it.
  void run();
  /// Does a limited amount of the pending work, without sleeping. Returns true if there was any work; more may then be
  /// pending.
  bool run_once();
  /// Sleeps until there may be something to do, for at most `limit`. Returns immediately if there is work.
  void wait(std::chrono::milliseconds limit);

  /// Makes run() return after the current round of work. Any thread may call this function.
  void stop();
  /// Wakes the loop if it sleeps. Any thread may call this function after it has made its work visible to other
  /// threads, for example by a release store. If the loop is awake, the call costs one fence and one atomic load.
  void wake() { wakeup_.notify(); }
  /// Returns the handle with which another process makes a PeerWakeup to wake the loop.
  WakeupHandle wakeup_handle() const { return wakeup_.handle(); }

  /// Returns the trace of the message that is being handled: the number of the batch that caused the message. Messages
  /// that the handler sends get the same trace. The trace is 0 in tasks of post() and after().
  std::uint64_t trace() const { return trace_; }
  /// Sets the trace of the messages that the current handler or task sends after this call.
  void set_trace(std::uint64_t trace) { trace_ = trace; }

 private:
  /// A queue that never frees its memory: a ring whose size doubles when it is full.
  class Queue {
   public:
    bool empty() const { return head_ == tail_; }
    std::size_t size() const { return tail_ - head_; }
    void push(Delivery delivery);
    Delivery pop();

   private:
    // The number of slots is a power of two, so that a bit mask can replace a division.
    Delivery& slot(std::size_t number) { return slots_[number & (slots_.size() - 1)]; }

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
  LoopActivity activity_{&trace_};
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
