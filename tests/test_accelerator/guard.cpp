// SPDX-License-Identifier: Apache-2.0
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstring>

#include "tests/test_accelerator/backend.h"
#include "tests/test_accelerator/card.h"
#include "tests/test_accelerator/torch_versions.h"

namespace trainyard::test_accelerator {
namespace {

/// The current device is different for every thread, because autograd runs backward passes on separate threads.
thread_local int current = 0;

c10::Device device_number(int index) { return {c10::kPrivateUse1, static_cast<c10::DeviceIndex>(index)}; }

c10::Stream only_stream_of(c10::Device device) { return c10::Stream(c10::Stream::DEFAULT, device); }

/// The object through which LibTorch queries and sets the current device of a thread. For LibTorch, a device has only
/// one stream, and every operation is complete when its call returns.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::kPrivateUse1; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = device_number(current);
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return device_number(current); }
  void setDevice(c10::Device device) const override { uncheckedSetDevice(device); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index()) current = device.index();
  }
  c10::DeviceIndex deviceCount() const noexcept override { return test_device::kDevices; }

  c10::Stream getStream(c10::Device device) const noexcept override { return only_stream_of(device); }
  c10::Stream getDefaultStream(c10::Device device) const override { return only_stream_of(device); }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override { return stream; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}

  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

class Allocator final : public AllocatorBase {
 public:
  c10::DataPtr take(std::size_t bytes) const override { return Card::of(current)->take(bytes); }
  void copy_within(void* to, const void* from, std::size_t bytes) const override {
    const auto card = Card::of(current);
    if (bytes > 0) std::memcpy(card->window(to), card->window(from), bytes);
  }
};

Allocator the_allocator;

/// Runs when the library is loaded.
[[maybe_unused]] const bool registered = [] {
  c10::SetAllocator(c10::kPrivateUse1, &the_allocator);
  announce_backend();
  return true;
}();

}  // namespace

c10::Allocator* allocator() { return &the_allocator; }

int current_device() { return current; }

}  // namespace trainyard::test_accelerator
