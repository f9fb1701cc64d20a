// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/timed_stream.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "devices/test_device/shared_fence.h"
#include "devices/test_device/test_device.h"
#include "messages/error.h"

namespace trainyard::test_device {
namespace {

using devices::HostRegion;
using devices::Purpose;
using devices::Region;

std::int64_t now_ns() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

TimedStream::TimedStream(TestDevice& device, std::string name)
    : Stream(device, std::move(name)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

TimedStream::~TimedStream() = default;

TestDevice& TimedStream::test_device() const { return static_cast<TestDevice&>(device()); }

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
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    queue_.clear();
    changed_.notify_all();
    return false;
  }
  done.end_ns = now_ns();
  if (stop.stop_requested()) return false;
  test_device().add(std::move(done));
  return true;
}

/// Waits for as long as the link of a real device would need, plus the latency. The destructor of the stream interrupts
/// the wait.
void TimedStream::take_time(const Operation& operation, const std::stop_token& stop) {
  const Options& options = test_device().options();
  const double rate = options.link_gb_per_s * 1e9;
  const double link_seconds = rate > 0 ? static_cast<double>(operation.link_bytes) / rate : 0;
  const std::chrono::duration<double> time(link_seconds + options.latency_us * 1e-6);
  if (time.count() <= 0) return;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, time, [] { return false; });
}

void TimedStream::launch(const char* what, std::vector<Region> regions,
                         std::function<void(std::span<const std::span<std::byte>>)> kernel) {
  for (const Region& region : regions) check(region);
  submit(
      {.what = what, .run = [this, regions = std::move(regions), kernel = std::move(kernel)](const std::stop_token&) {
         std::vector<std::span<std::byte>> bytes;
         for (const Region& region : regions) bytes.emplace_back(test_device().window(region), region.bytes());
         kernel(bytes);
       }});
}

void TimedStream::submit_to_device(const Region& to, const HostRegion& from, Purpose purpose) {
  submit({.what = "to device",
          .run = [this, to, from](auto&) { std::memcpy(test_device().window(to), from.data(), to.bytes()); },
          .link_bytes = to.bytes(),
          .purpose = purpose});
}

void TimedStream::submit_to_host(const HostRegion& to, const Region& from, Purpose purpose) {
  submit({.what = "to host",
          .run = [this, to, from](auto&) { std::memcpy(to.data(), test_device().window(from), from.bytes()); },
          .link_bytes = from.bytes(),
          .purpose = purpose});
}

void TimedStream::submit_copy(const Region& to, const Region& from) {
  submit({.what = "copy", .run = [this, to, from](auto&) {
            std::memcpy(test_device().window(to), test_device().window(from), to.bytes());
          }});
}

void TimedStream::submit_zero(const Region& region) {
  submit(
      {.what = "zero", .run = [this, region](auto&) { std::memset(test_device().window(region), 0, region.bytes()); }});
}

void TimedStream::submit_signal(std::shared_ptr<devices::Fence> fence, std::uint64_t value) {
  submit({.what = "signal", .run = [fence = std::move(fence), value](auto&) { fence->signal(value); }});
}

void TimedStream::submit_wait(std::shared_ptr<devices::Fence> fence, std::uint64_t value) {
  submit({.what = "wait", .run = [fence = std::move(fence), value](const std::stop_token& stop) {
            dynamic_cast<const SharedFence&>(*fence).await(value, stop);
          }});
}

void TimedStream::submit_call(std::function<void()> callback) {
  submit({.what = "call", .run = [callback = std::move(callback)](auto&) { callback(); }});
}

}  // namespace trainyard::test_device
