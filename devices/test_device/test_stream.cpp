// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/test_stream.h"

#include <cstring>
#include <utility>

#include "devices/test_device/test_device.h"

namespace trainyard::test_device {

using devices::HostRegion;
using devices::Purpose;
using devices::Region;

std::int64_t now_ns() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

TestStream::TestStream(TestDevice& device, std::string name) : Stream(device, std::move(name)) {}

TestDevice& TestStream::test_device() const { return static_cast<TestDevice&>(device()); }

std::chrono::duration<double> TestStream::time_of(const Operation& operation) const {
  const Options& options = test_device().options();
  const double rate = options.link_gb_per_s * 1e9;
  const double link_seconds = rate > 0 ? static_cast<double>(operation.link_bytes) / rate : 0;
  return std::chrono::duration<double>(link_seconds + options.latency_us * 1e-6);
}

void TestStream::launch(const char* what, std::vector<Region> regions, Kernel kernel) {
  for (const Region& region : regions) check(region);
  submit(
      {.what = what, .run = [this, regions = std::move(regions), kernel = std::move(kernel)](const std::stop_token&) {
         std::vector<std::span<std::byte>> bytes;
         for (const Region& region : regions) bytes.emplace_back(test_device().window(region), region.bytes());
         kernel(bytes);
       }});
}

void TestStream::submit_to_device(const Region& to, const HostRegion& from, Purpose purpose) {
  submit({.what = kToDevice,
          .run = [this, to, from](auto&) { std::memcpy(test_device().window(to), from.data(), to.bytes()); },
          .link_bytes = to.bytes(),
          .purpose = purpose});
}

void TestStream::submit_to_host(const HostRegion& to, const Region& from, Purpose purpose) {
  submit({.what = kToHost,
          .run = [this, to, from](auto&) { std::memcpy(to.data(), test_device().window(from), from.bytes()); },
          .link_bytes = from.bytes(),
          .purpose = purpose});
}

void TestStream::submit_copy(const Region& to, const Region& from) {
  submit({.what = "copy", .run = [this, to, from](auto&) {
            std::memcpy(test_device().window(to), test_device().window(from), to.bytes());
          }});
}

void TestStream::submit_zero(const Region& region) {
  submit(
      {.what = "zero", .run = [this, region](auto&) { std::memset(test_device().window(region), 0, region.bytes()); }});
}

void TestStream::submit_signal(std::shared_ptr<devices::Fence> fence, std::uint64_t value) {
  submit({.what = "signal", .run = [fence = std::move(fence), value](auto&) { fence->signal(value); }});
}

void TestStream::submit_call(std::function<void()> callback) {
  submit({.what = "call", .run = [callback = std::move(callback)](auto&) { callback(); }, .after_failure = true});
}

}  // namespace trainyard::test_device
