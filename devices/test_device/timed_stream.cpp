// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/timed_stream.h"

#include <utility>

#include "devices/test_device/shared_fence.h"
#include "devices/test_device/test_device.h"
#include "messages/error.h"

namespace trainyard::test_device {
TimedStream::TimedStream(TestDevice& device, std::string name)
    : TestStream(device, std::move(name)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

TimedStream::~TimedStream() = default;

void TimedStream::submit(Operation operation) {
  {
    const std::lock_guard lock(mutex_);
    throw_if_failed();
    queue_.push_back(std::move(operation));
  }
  changed_.notify_all();
}

void TimedStream::throw_if_failed() const {
  if (failure_) std::rethrow_exception(failure_);
}

void TimedStream::drain(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  const bool done = changed_.wait_for(lock, limit, [this] { return queue_.empty() || failure_; });
  throw_if_failed();
  if (done) return;
  throw Error(Code::kTimeout, "stream '{}' is not done within {} ms: '{}' is under way, and {} operations wait", name(),
              limit.count(), queue_.front().what, queue_.size() - 1);
}

void TimedStream::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !queue_.empty(); })) {
    // The reference stays valid while other operations are appended. The operation is destroyed without the lock,
    // because that may free memory.
    const Operation& operation = queue_.front();
    lock.unlock();
    const bool carried_out = carry_out(operation, stop);
    lock.lock();
    if (!carried_out) return;
    const Operation done = std::move(queue_.front());
    queue_.pop_front();
    changed_.notify_all();
    lock.unlock();
    static_cast<void>(done);
    lock.lock();
  }
}

/// Carries out one operation. Returns false if the operation has failed or if the stream is being destroyed; the thread
/// then ends.
bool TimedStream::carry_out(const Operation& operation, const std::stop_token& stop) {
  Done done{name(), operation.what, operation.purpose, operation.link_bytes, now_ns(), 0};
  try {
    operation.run(stop);
    take_time(operation, stop);
  } catch (...) {
    fail(std::current_exception(), stop);
    return false;
  }
  done.end_ns = now_ns();
  if (stop.stop_requested()) return false;
  test_device().add(std::move(done));
  return true;
}

/// Drops the operations that wait, except for those that are carried out even after a failure.
void TimedStream::fail(std::exception_ptr failure, const std::stop_token& stop) {
  std::deque<Operation> dropped;
  {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    dropped.swap(queue_);
  }
  changed_.notify_all();
  for (const Operation& operation : dropped) {
    if (operation.after_failure) operation.run(stop);
  }
}

/// Waits for as long as the link of a real device would need, plus the latency. The destructor of the stream interrupts
/// the wait.
void TimedStream::take_time(const Operation& operation, const std::stop_token& stop) {
  const std::chrono::duration<double> time = time_of(operation);
  if (time.count() <= 0) return;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, time, [] { return false; });
}

void TimedStream::submit_wait(std::shared_ptr<devices::Fence> fence, std::uint64_t value) {
  submit({.what = "wait", .run = [fence = std::move(fence), value](const std::stop_token& stop) {
            dynamic_cast<const SharedFence&>(*fence).await(value, stop);
          }});
}

}  // namespace trainyard::test_device
