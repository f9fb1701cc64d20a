// SPDX-License-Identifier: Apache-2.0
// A backend for LibTorch, built as a separate library, as a vendor would supply it.
// It has three devices of the type PrivateUse1, and no operations.
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

thread_local c10::DeviceIndex current = 0;

c10::Device device(c10::DeviceIndex index) { return {c10::DeviceType::PrivateUse1, index}; }

struct TinyGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::PrivateUse1; }
  c10::Device exchangeDevice(c10::Device next) const override {
    const c10::Device before = device(current);
    current = next.index();
    return before;
  }
  c10::Device getDevice() const override { return device(current); }
  void setDevice(c10::Device next) const override { current = next.index(); }
  void uncheckedSetDevice(c10::Device next) const noexcept override { current = next.index(); }
  c10::Stream getStream(c10::Device of) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, of); }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override { return stream; }
  void synchronizeStream(const c10::Stream&) const override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 3; }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, TinyGuard)

}  // namespace
