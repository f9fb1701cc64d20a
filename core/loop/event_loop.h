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

namespace trainyard {

/// Something that can have work for an event loop: an edge from another thread, a socket. Not owned by the loop; to be
/// removed, on the loop's thread, before it goes.
class Source {
 public:
  virtual ~Source() = default;

  /// Does a bounded amount of work; true if there was any.
  virtual bool poll() = 0;

  /// True if poll() would do something right now. Sources with a socket may say false: the socket is looked at.
  virtual bool has_work() const = 0;

  /// A ZeroMQ socket (void*) whose readability means work; null if the source wakes the loop by itself.
  virtual void* socket() const { return nullptr; }
};

/// Runs the handlers of the components that share a thread, one after another.
///
/// A message between two of them is an entry in this loop's own queue: no lock, no atomic, no system call. Other
/// threads reach it through sources and post(). When there is nothing to do it sleeps in one poll over its wake-up and
/// sockets.
class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using TimerId = std::uint64_t;

  /// The name is that of the thread in the plan. The loop belongs to whatever thread calls run().
  explicit EventLoop(std::string name);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  const std::string& name() const { return name_; }

  /// Runs `task` on the loop's thread. From any thread; keeps order. Nobody catches what `task` throws: code of
  /// components goes through Component::guarded.
  void post(std::function<void()> task);

  /// Runs `task` on the loop's thread after `delay`, once. On the loop's thread only. The time is the steady clock's,
  /// in milliseconds; a busy loop is late.
  TimerId after(std::chrono::milliseconds delay, std::function<void()> task);
  /// Nothing happens if it has run already.
  void cancel(TimerId timer);

  /// Hands a message to its input when the present handler has returned. On the loop's thread only.
  void enqueue(Delivery delivery);

  /// From now on the source is polled. On the loop's thread, or before run().
  void add(Source& source);
  /// On the loop's thread only; the source is not polled again.
  void remove(Source& source);

  /// Runs until stop(). Sleeps at most a second at a time, as a net below the wake-up protocol.
  void run();
  /// Does what there is to do and returns whether there was anything; never sleeps.
  bool run_once();
  /// Sleeps until there may be something to do, at most `limit`.
  void wait(std::chrono::milliseconds limit);

  /// From any thread.
  void stop();
  /// From any thread, after work has been made visible. One load if the loop is awake.
  void wake() { wakeup_.notify(); }
  /// How other processes wake it.
  WakeupHandle wakeup_handle() const { return wakeup_.handle(); }

  /// The trace id of the message being handled; what is sent meanwhile carries it on.
  std::uint64_t trace() const { return trace_; }
  void set_trace(std::uint64_t trace) { trace_ = trace; }

 private:
  /// A queue that keeps its memory: a ring that doubles when full.
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
  // Rounded up: waking before a timer is due would turn the loop in vain.
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

}  // namespace trainyard
