// SPDX-License-Identifier: Apache-2.0
// Registers the devices and their memory with LibTorch.
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstring>

#include "backend.h"
#include "device_memory.h"
#include "libtorch_versions.h"

namespace xpu {
namespace {

/// The current device is different for every thread, because autograd runs backward passes on separate threads.
thread_local int current = 0;

c10::Device to_device(int index) { return {c10::kPrivateUse1, static_cast<c10::DeviceIndex>(index)}; }

c10::Stream stream_of(c10::Device device) { return c10::Stream(c10::Stream::DEFAULT, device); }

/// The object through which LibTorch queries and sets the current device of a thread, and handles streams. A device has
/// only one stream, and every operation is complete when its call returns.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::kPrivateUse1; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = to_device(current);
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return to_device(current); }
  void setDevice(c10::Device device) const override { uncheckedSetDevice(device); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index()) current = device.index();
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }

  c10::Stream getStream(c10::Device device) const noexcept override { return stream_of(device); }
  c10::Stream getDefaultStream(c10::Device device) const override { return stream_of(device); }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override { return stream; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}

  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

/// Allocates the memory of tensors.
class Allocator final : public AllocatorBase {
 public:
  c10::DataPtr take(std::size_t bytes) const override {
    void* address = bytes == 0 ? nullptr : memory_of(current).take(bytes);
    return {address, address, &give_back, to_device(current)};
  }
  void copy_on_device(void* to, const void* from, std::size_t bytes) const override {
    if (bytes > 0) std::memcpy(memory_at(to)->window(to), memory_at(from)->window(from), bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }

 private:
  static void give_back(void* address) {
    if (address != nullptr) memory_at(address)->give_back(address);
  }
};

Allocator the_allocator;

/// Runs when the library is loaded.
const bool registered = [] {
  c10::SetAllocator(c10::kPrivateUse1, &the_allocator);
  announce_backend();
  return true;
}();

}  // namespace

c10::Allocator* allocator() { return &the_allocator; }

int current_device() { return current; }

}  // namespace xpu
