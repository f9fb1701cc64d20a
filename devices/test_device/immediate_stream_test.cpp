// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/immediate_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/testing/error_of.h"
#include "devices/test_device/test_device.h"
#include "devices/test_device/timed_stream.h"
#include "messages/error.h"

namespace trainyard::test_device {
namespace {

using devices::HostRegion;
using devices::LinkCount;
using devices::Purpose;
using devices::Region;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Buffer filled(std::size_t bytes, int value) {
  Buffer buffer = Buffer::heap(bytes);
  std::memset(buffer.data(), value, bytes);
  return buffer;
}

std::vector<std::string> names_of(const std::vector<Done>& done) {
  std::vector<std::string> names;
  for (const Done& operation : done) names.emplace_back(operation.what);
  return names;
}

TEST(ImmediateStreamTest, EveryOperationIsDoneWhenItsCallReturns) {
  TestDevice device;
  const auto stream = device.adopt_stream("compute", nullptr);
  const Region region(device.allocate(16, "a"));
  const auto fence = device.make_fence();
  const Buffer back = Buffer::heap(16);
  int called = 0;

  stream->to_device(region, HostRegion(filled(16, 7)), Purpose::kState);
  EXPECT_EQ(device.window(region)[15], std::byte{7});
  stream->to_host(HostRegion(back), region, Purpose::kSnapshot);
  EXPECT_EQ(back.data()[15], std::byte{7});
  stream->signal(fence, 3);
  EXPECT_EQ(fence->value(), 3u);
  stream->wait(fence, 2);
  stream->zero(region);
  EXPECT_EQ(device.window(region)[15], std::byte{0});
  stream->then([&called] { ++called; });
  EXPECT_EQ(called, 1);

  EXPECT_THAT(names_of(device.take_done()), ElementsAre("to device", "to host", "signal", "wait", "zero", "call"));
  EXPECT_EQ(device.link_bytes().all(), (LinkCount{16, 16}));
}

TEST(ImmediateStreamTest, AWaitTakesUntilAnotherStreamHasSignalled) {
  TestDevice device;
  const auto compute = device.adopt_stream("compute", nullptr);
  TimedStream update(device, "update");
  const auto fence = device.make_fence();
  bool updated = false;
  update.launch("update", {}, [&updated](auto) { updated = true; });
  update.signal(fence, 1);
  compute->wait(fence, 1);
  EXPECT_TRUE(updated);
}

TEST(ImmediateStreamTest, AWaitInVainEndsWithAnErrorThatSaysForWhat) {
  TestDevice device;
  ImmediateStream stream(device, "compute", std::chrono::milliseconds(1));
  const auto [code, text] = testing::error_of([&] { stream.wait(device.make_fence(), 4); });
  EXPECT_EQ(code, Code::kTimeout);
  EXPECT_EQ(text,
            "stream 'compute' of test_device 0 waited in vain, because the process that should have signalled the "
            "fence is slow or has ended: a fence has not reached 4 within 1 ms; its value is 0");
  EXPECT_EQ(testing::error_of([&] { stream.zero(Region(device.allocate(8, "a"))); }).second, text) << "later calls";
}

TEST(ImmediateStreamTest, ACopyForALibraryIsCountedAmongWhatHasCrossedTheLink) {
  TestDevice device;
  ImmediateStream stream(device, "compute");
  int copied = 0;
  stream.copy_for_library(kToHost, 12, [&copied] { ++copied; });
  stream.to_device(Region(device.allocate(8, "a")), HostRegion(Buffer::heap(8)), Purpose::kBatch);
  EXPECT_EQ(copied, 1);
  EXPECT_EQ(device.crossed(), (LinkCount{8, 12}));
  EXPECT_EQ(device.link_bytes().all(), (LinkCount{8, 0}));
}

TEST(ImmediateStreamTest, AStreamOfSomebodyElseIsRefused) {
  TestDevice device;
  int other = 0;
  const auto [code, text] = testing::error_of([&] { device.adopt_stream("compute", &other); });
  EXPECT_EQ(code, Code::kInvalidArgument);
  EXPECT_THAT(text, HasSubstr("test_device 0 was given a stream for 'compute'; only null is allowed"));
}

TEST(TestDeviceTest, TheWindowIsFoundByAnAddressOfTheDevice) {
  TestDevice device;
  const auto first = device.allocate(16, "a");
  const Region second(device.allocate(16, "b"), 4, 8);
  EXPECT_EQ(device.window(static_cast<const void*>(second.address())), device.window(second));
  const Region opened(device.open_block(device.export_block(second)));
  *device.window(second) = std::byte{5};
  EXPECT_EQ(*device.window(static_cast<const void*>(opened.address())), std::byte{5});
  int elsewhere = 0;
  EXPECT_EQ(testing::error_of([&] { device.window(static_cast<const void*>(&elsewhere)); }).first, Code::kInternal);
}

}  // namespace
}  // namespace trainyard::test_device
