// SPDX-License-Identifier: Apache-2.0
// Tests the copies of snapshots on two streams of a test device. LibTorch does not compute here, so its device does not
// matter.
#include "tensors/snapshot_copies.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "devices/test_device/test_device.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using devices::Fence;
using devices::HostRegion;
using devices::Purpose;

constexpr std::size_t kBytes = 256;
constexpr std::chrono::seconds kLimit{60};

Buffer filled(int value) {
  Buffer buffer = Buffer::heap(kBytes);
  std::memset(buffer.data(), value, kBytes);
  return buffer;
}

/// Computes on an asynchronous stream, which a test can hold up with held_up_.
class SnapshotCopiesTest : public ::testing::Test {
 protected:
  SnapshotCopiesTest() {
    compute().to_device(*parameters_.region(), HostRegion(filled(1)), Purpose::kState);
    compute().to_device(*buffers_.region(), HostRegion(filled(1)), Purpose::kState);
    compute().drain(kLimit);
  }

  devices::Stream& compute() { return *native_.stream; }
  MirroredBlock block(const char* what) { return {filled(0), DType::kUInt8, memory_, what}; }
  void change(const MirroredBlock& block) { compute().zero(*block.region()); }
  void begin(const MirroredBlock& buffers) { copies_.begin(buffers, std::vector<const MirroredBlock*>{&parameters_}); }
  static int mirrored(const MirroredBlock& block) { return std::to_integer<int>(block.host().data()[kBytes - 1]); }

  std::shared_ptr<test_device::TestDevice> device_ = std::make_shared<test_device::TestDevice>();
  NativeDevice native_{device_, device_->make_stream("compute")};
  std::shared_ptr<Fence> held_up_ = device_->make_fence();
  DeviceMemory memory_{.device = at::Device(at::kCPU), .copy = {}, .native = &native_};
  MirroredBlock parameters_ = block("parameters");
  MirroredBlock buffers_ = block("buffers");
  SnapshotCopies copies_{native_};
};

TEST_F(SnapshotCopiesTest, TheCopyHasTheValuesOfTheMomentAndNothingWaitsForTheDevice) {
  compute().wait(held_up_, 1);
  begin({});
  copies_.hold_changes();
  change(parameters_);
  std::atomic<bool> complete = false;
  copies_.when_complete([&complete] { complete = true; });
  EXPECT_FALSE(complete) << "the device is held up, but this thread is not";
  EXPECT_EQ(mirrored(parameters_), 0);
  held_up_->signal(1);
  copies_.check();
  EXPECT_EQ(mirrored(parameters_), 1);
  EXPECT_TRUE(complete);
  compute().drain(kLimit);
  parameters_.to_host(Purpose::kReaders);
  EXPECT_EQ(mirrored(parameters_), 0) << "the change came after the copy";
}

TEST_F(SnapshotCopiesTest, TheNextForwardPassWaitsOnlyForTheBuffers) {
  begin(buffers_);
  change(buffers_);
  copies_.check();
  EXPECT_EQ(mirrored(buffers_), 1);
  compute().drain(kLimit);
  buffers_.to_host(Purpose::kReaders);
  EXPECT_EQ(mirrored(buffers_), 0);
}

/// While the copy is held up by the slow link, the compute stream carries out other work.
TEST(SlowSnapshotTest, WorkGoesOnBesideTheCopy) {
  const auto device = std::make_shared<test_device::TestDevice>(test_device::Options{.link_gb_per_s = 0.001});
  const NativeDevice native{device, device->make_stream("compute")};
  const DeviceMemory memory{.device = at::Device(at::kCPU), .copy = {}, .native = &native};
  const MirroredBlock parameters(Buffer::heap(200'000), DType::kUInt8, memory, "parameters");
  const MirroredBlock activations(Buffer::heap(kBytes), DType::kUInt8, memory, "activations");
  SnapshotCopies copies(native);
  copies.begin({}, std::vector<const MirroredBlock*>{&parameters});
  native.stream->zero(*activations.region());
  copies.hold_changes();
  native.stream->zero(*parameters.region());
  native.stream->drain(kLimit);
  copies.check();
  const test_device::Done* copied = nullptr;
  std::vector<test_device::Done> zeroed;
  const std::vector<test_device::Done> all = device->take_done();
  for (const test_device::Done& done : all) {
    if (done.stream == "snapshot" && done.purpose == Purpose::kSnapshot) copied = &done;
    if (done.stream == "compute" && std::string(done.what) == "zero") zeroed.push_back(done);
  }
  ASSERT_NE(copied, nullptr);
  ASSERT_EQ(zeroed.size(), 2u);
  EXPECT_LT(zeroed[0].end_ns, copied->end_ns) << "the copy takes 0.2 s";
  EXPECT_GE(zeroed[1].begin_ns, copied->end_ns);
}

}  // namespace
}  // namespace trainyard
