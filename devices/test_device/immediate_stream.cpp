// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/immediate_stream.h"

#include <thread>
#include <utility>

#include "devices/test_device/test_device.h"
#include "messages/error.h"

namespace trainyard::test_device {

ImmediateStream::ImmediateStream(TestDevice& device, std::string name, std::chrono::milliseconds limit)
    : TestStream(device, std::move(name)), limit_(limit) {}

void ImmediateStream::throw_if_failed() const {
  if (failure_) std::rethrow_exception(failure_);
}

void ImmediateStream::drain(std::chrono::milliseconds /*limit*/) { throw_if_failed(); }

void ImmediateStream::submit(Operation operation) {
  throw_if_failed();
  try {
    carry_out(operation);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

void ImmediateStream::copy_for_library(const char* what, std::size_t bytes, const std::function<void()>& copy) {
  carry_out({.what = what, .run = [&copy](auto&) { copy(); }, .link_bytes = bytes});
}

void ImmediateStream::carry_out(const Operation& operation) {
  Done done{name(), operation.what, operation.purpose, operation.link_bytes, now_ns(), 0};
  operation.run({});
  const std::chrono::duration<double> time = time_of(operation);
  if (time.count() > 0) std::this_thread::sleep_for(time);
  done.end_ns = now_ns();
  test_device().add(std::move(done));
}

void ImmediateStream::submit_wait(std::shared_ptr<devices::Fence> fence, std::uint64_t value) {
  submit({.what = "wait", .run = [this, &fence, value](auto&) {
            try {
              fence->await(value, limit_);
            } catch (const Error& error) {
              if (error.code() != Code::kTimeout) throw;
              throw Error(Code::kTimeout,
                          "stream '{}' of {} {} waited in vain, because the process that should have signalled the "
                          "fence is slow or has ended: {}",
                          name(), device().id().kind, device().id().uuid, error.what());
            }
          }});
}

}  // namespace trainyard::test_device
