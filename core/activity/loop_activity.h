// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "core/activity/account.h"
#include "core/edge/envelope.h"
#include "core/spans/span_recorder.h"
#include "core/spans/span_scope.h"

namespace trainyard::core {

class OwnThreads;

/// Measures how long each component of one event loop is busy, and what it waits for. While the measurement is off, it
/// costs one relaxed store and one relaxed load for each message.
///
/// A BusyScope marks the time in which the loop runs a handler, hook or task of a component; inside it, a WaitScope
/// marks the time in which this code waits. The time between two BusyScopes of a component is attributed to a cause
/// when the second one begins:
///  - If the second one handles a message from another component, the component waited for the sender (kMessage) until
///    the message was sent. After that it waited for its turn (kThread) while the loop ran other components.
///  - If the second one begins because an edge has room again, the component waited for the receiver (kRoom).
///  - Otherwise, as with a timer, the component was idle.
///
/// The accounting (the measurement of these times) begins with start() and ends with stop(). A handler or wait that is
/// in progress when the accounting begins is measured from that moment on. Functions are called on the loop's thread,
/// unless a comment names the control thread, which communicates with the launcher and with users.
///
/// Between start_recording() and stop_recording(), a SpanRecorder records each of these intervals as a span. Accounting
/// and recording can be on at the same time. They share one flag, so that a message needs only one check for both.
class LoopActivity {
 public:
  /// `trace` points to the variable in which the loop keeps the trace of the message that is being handled: the number
  /// of the batch that caused the message. If `trace` is null, the trace is always 0.
  explicit LoopActivity(const std::uint64_t* trace = nullptr) : spans_(trace) {}
  LoopActivity(const LoopActivity&) = delete;
  LoopActivity& operator=(const LoopActivity&) = delete;

  /// Adds a component of the loop. All calls must come before the loop runs. The time of components that were not added
  /// is not measured.
  void add(const Component& component) { accounts_.emplace_back(component); }

  /// Starts the accounting with all totals at zero. Called by the control thread, which must then post a task that
  /// calls arrive(). If a handler is in progress, this task runs when the handler has returned, and the time of the
  /// handler is then counted.
  void start();
  /// Ends the accounting. Called by the control thread.
  void stop();
  /// Returns true while the accounting or the recording is on. Any thread may call this.
  bool on() const { return on_.load(std::memory_order_relaxed); }
  /// Ends the measurement of a handler that was in progress when the accounting or the recording began. See start().
  void arrive();

  /// Begins to record spans. Called by the control thread, which must then post a task that calls arrive(), as for
  /// start().
  void start_recording();
  /// Ends the recording of spans. Called by the control thread.
  void stop_recording();
  /// Returns the recorder of spans, which start_recording() and stop_recording() start and stop.
  SpanRecorder& spans() { return spans_; }
  const SpanRecorder& spans() const { return spans_; }

  /// The totals of all components at one moment.
  struct Reading {
    std::int64_t time_ns = 0;   ///< When the totals were read, on the clock of now_ns().
    std::int64_t began_ns = 0;  ///< When the accounting began, on the same clock.
    std::vector<Totals> components;
  };
  /// Returns the totals up to this moment, including work and waiting that is in progress. Only the control thread may
  /// call this, after start().
  Reading read() const;

  /// Records that the loop's thread has no work and is about to sleep.
  void sleep() { running_.store(nullptr, std::memory_order_relaxed); }

  /// While this object exists, WaitScopes and SpanScopes on the thread that has constructed it report to `activity`.
  /// The event loop keeps one on its thread while it runs.
  class ThreadScope {
   public:
    explicit ThreadScope(LoopActivity& activity);
    ~ThreadScope();
    ThreadScope(const ThreadScope&) = delete;
    ThreadScope& operator=(const ThreadScope&) = delete;

   private:
    LoopActivity* before_;
  };

  /// Returns the current time of the steady clock, with which all times here are measured, in nanoseconds.
  static std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

 private:
  friend class BusyScope;
  friend class OwnThreads;
  friend class RoomScope;
  friend class SpanScope;
  friend class WaitScope;
  friend bool records_spans();
  friend bool records_operations();
  friend void add_span(const EndedSpan& span);

  // The state of the innermost BusyScope.
  struct Frame {
    Account* account = nullptr;
    // True if the BusyScope began before the accounting, so that its destructor does not call end().
    bool implicit = false;
  };

  bool begin(const Component& component, const Envelope* message, Frame& outer);
  void end(const Frame& outer);
  // Sets what the running component waits for: a packed WaitCause, or 0 for nothing. If `settles` is false, the time
  // since the last change is attributed to the new cause, too. Returns the current time, or 0 if neither the accounting
  // nor the recording is on.
  std::int64_t set_wait(std::uint64_t cause, bool settles);
  void join(OwnThreads& threads);
  void leave(OwnThreads& threads);

  // Resets the accounts if the accounting has begun anew.
  void enter_epoch(std::int64_t now);
  void leave_implicit(std::int64_t now);
  // Attributes the time since `since_` to the running component.
  void settle(std::int64_t now);
  // Attributes the time in which the component had nothing to do.
  void attribute(Account& account, std::int64_t now, const Envelope* message);
  void run(const Frame& frame, std::int64_t now);
  Account* find(const Component& component);

  void begin_epoch();
  void turn_on_or_off();
  const Component* running_component() const;

  Totals totals_of(const Account& account, const Reading& reading) const;

  // An epoch is the time from one start of the accounting to the next. All totals belong to one epoch.
  struct Epoch {
    std::atomic<std::uint64_t> number{0};   // The number of times that the accounting has begun.
    std::atomic<std::int64_t> began_ns{0};  // Written before the number.
  };

  // Used only by the control thread.
  bool accounting_ = false;

  // Written by the control thread.
  std::atomic<bool> on_{false};
  Epoch epoch_;

  // Written by the loop's thread, read by both.
  // Set even while the accounting is off, so that it is known when the accounting begins.
  std::atomic<const Component*> running_{nullptr};
  PublishedNumber<std::uint64_t> inner_;  // The cause of the innermost WaitScope, packed; 0 if there is none.
  Published published_;
  PublishedNumber<std::uint64_t> entered_;  // The epoch to which the accounts belong.
  PublishedNumber<const Account*> current_;
  // The time from which the current work or waiting of `current_` has not been added to its account.
  PublishedNumber<std::int64_t> since_;
  std::deque<Account> accounts_;

  SpanRecorder spans_;

  // Used only by the loop's thread.
  Frame frame_;
  std::int64_t ran_ = 0;  // How long the loop has run components.
  std::optional<std::uint32_t> room_at_;

  mutable std::mutex threads_mutex_;
  std::vector<OwnThreads*> threads_;
};

/// Marks the time in which an event loop runs a handler, a hook or a task of a component. Scopes can be nested; the
/// time of an inner scope does not count for the outer scope.
class BusyScope {
 public:
  /// `message` is the message that the component is about to handle; null if there is none.
  BusyScope(LoopActivity& activity, const Component& component, const Envelope* message = nullptr) {
    activity.running_.store(&component, std::memory_order_relaxed);
    if (activity.on()) [[unlikely]] {
      if (activity.begin(component, message, outer_)) activity_ = &activity;
    }
  }
  ~BusyScope() {
    if (activity_ != nullptr) [[unlikely]]
      activity_->end(outer_);
  }
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;

 private:
  LoopActivity* activity_ = nullptr;
  LoopActivity::Frame outer_;
};

/// A scope for the work that a component does because an edge (a connection to a receiver) has room again. LoopActivity
/// then attributes the time before this work to waiting for the receiver.
class RoomScope {
 public:
  /// `edge` is the id of the edge that has room again.
  RoomScope(LoopActivity& activity, std::uint32_t edge) : activity_(activity), before_(activity.room_at_) {
    activity.room_at_ = edge;
  }
  ~RoomScope() { activity_.room_at_ = before_; }
  RoomScope(const RoomScope&) = delete;
  RoomScope& operator=(const RoomScope&) = delete;

 private:
  LoopActivity& activity_;
  std::optional<std::uint32_t> before_;
};

}  // namespace trainyard::core
