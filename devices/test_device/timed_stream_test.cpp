// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/timed_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <numeric>

#include "devices/test_device/test_device.h"
#include "messages/error.h"

namespace trainyard::test_device {
namespace {

using devices::HostRegion;
using devices::LinkCount;
using devices::Purpose;
using devices::Region;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kLimit{20'000};  ///< Far longer than any operation takes.

std::unique_ptr<TimedStream> timed(TestDevice& device, const char* name) {
  return std::make_unique<TimedStream>(device, name);
}

Buffer numbers(std::size_t count, int first) {
  Buffer buffer = Buffer::heap(count * sizeof(int));
  auto* values = reinterpret_cast<int*>(buffer.data());
  std::iota(values, values + count, first);
  return buffer;
}

bool equal(const Buffer& a, const Buffer& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

std::vector<std::string> names_of(const std::vector<Done>& done) {
  std::vector<std::string> names;
  for (const Done& operation : done) names.emplace_back(operation.what);
  return names;
}

template <class Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TimedStreamTest, CopiesArriveAndAreCountedByPurpose) {
  TestDevice device;
  const auto stream = device.make_stream("copies");
  const Region there(device.allocate(400, "a"));
  const Region also_there(device.allocate(400, "b"));
  const Buffer sent = numbers(100, 1);
  const Buffer back = Buffer::heap(400);
  stream->to_device(there, HostRegion(sent), Purpose::kBatch);
  stream->copy(also_there, there);
  stream->to_host(HostRegion(back), also_there, Purpose::kSnapshot);
  stream->drain(kLimit);
  EXPECT_TRUE(equal(sent, back));
  EXPECT_EQ(device.link_bytes().of(Purpose::kBatch), (LinkCount{400, 0}));
  EXPECT_EQ(device.link_bytes().of(Purpose::kSnapshot), (LinkCount{0, 400}));
  EXPECT_EQ(device.link_bytes().all().both(), 800u) << "copies within the device cross no link";
}

TEST(TimedStreamTest, PartsAreCopiedWhereTheyBelong) {
  TestDevice device;
  const auto stream = device.make_stream("copies");
  const Region there(device.allocate(400, "a"));
  stream->to_device(there.part(40, 40), HostRegion(numbers(100, 0), 200, 40), Purpose::kBatch);
  const Buffer back = Buffer::heap(400);
  stream->to_host(HostRegion(back), there, Purpose::kBatch);
  stream->drain(kLimit);
  const auto* values = reinterpret_cast<const int*>(back.data());
  EXPECT_THAT(std::vector<int>(values + 9, values + 21), ElementsAre(0, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 0));
}

TEST(TimedStreamTest, AKernelSeesItsRegionsWhileItRuns) {
  TestDevice device;
  const auto stream = timed(device, "compute");
  const Region values(device.allocate(12, "values"));
  stream->to_device(values, HostRegion(numbers(3, 5)), Purpose::kParameters);
  stream->launch("double", {values}, [](auto regions) {
    for (std::size_t i = 0; i < 3; ++i) reinterpret_cast<int*>(regions[0].data())[i] *= 2;
  });
  const Buffer back = Buffer::heap(12);
  stream->to_host(HostRegion(back), values, Purpose::kParameters);
  stream->drain(kLimit);
  EXPECT_THAT(std::vector<int>(reinterpret_cast<int*>(back.data()), reinterpret_cast<int*>(back.data()) + 3),
              ElementsAre(10, 12, 14));
  EXPECT_THAT(names_of(device.take_done()), ElementsAre("to device", "double", "to host"));
  EXPECT_TRUE(device.take_done().empty());
}

TEST(TimedStreamTest, SubmittedOperationsKeepTheirMemoryAlive) {
  TestDevice device;
  const auto stream = device.make_stream("compute");
  const std::shared_ptr<devices::Fence> go = device.make_fence();
  stream->wait(go, 1);
  {
    const Region region(device.allocate(4096, "short-lived"));
    stream->to_device(region, HostRegion(numbers(1024, 0)), Purpose::kBatch);
  }
  EXPECT_EQ(device.used_bytes(), 4096u);
  go->signal(1);
  stream->drain(kLimit);
  // The queue is empty before the operation's memory is freed, so a later operation is waited for as well.
  stream->signal(go, 2);
  stream->drain(kLimit);
  EXPECT_EQ(device.used_bytes(), 0u);
}

TEST(TimedStreamTest, AFenceOrdersTwoStreamsWithoutTheHost) {
  TestDevice device;
  const auto compute = timed(device, "compute");
  const auto update = timed(device, "update");
  const auto gradients_ready = device.make_fence();
  const auto parameters_ready = device.make_fence();
  std::vector<int> order;  // Only written by kernels; the fences keep them apart.
  // All operations are submitted without waiting, and those of the stream that reads before those of the stream that
  // writes.
  for (std::uint64_t step = 1; step <= 50; ++step) {
    update->wait(gradients_ready, step);
    update->launch("update", {}, [&order](auto) { order.push_back(2); });
    update->signal(parameters_ready, step);
    compute->launch("step", {}, [&order](auto) { order.push_back(1); });
    compute->signal(gradients_ready, step);
    compute->wait(parameters_ready, step);
  }
  compute->drain(kLimit);
  update->drain(kLimit);
  ASSERT_EQ(order.size(), 100u);
  for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], i % 2 == 0 ? 1 : 2) << i;
}

TEST(TimedStreamTest, ACopyOfASnapshotOverlapsWithAStep) {
  TestDevice device;
  const auto compute = timed(device, "compute");
  const auto copies = timed(device, "snapshot");
  const Region parameters(device.allocate(4096, "parameters"));
  std::promise<void> copied;
  compute->launch("step", {}, [&copied](auto) { copied.get_future().wait(); });
  copies->to_host(HostRegion(Buffer::heap(4096)), parameters, Purpose::kSnapshot);
  copies->then([&copied] { copied.set_value(); });
  compute->drain(kLimit);  // It would not end if the copy waited for the step.
  copies->drain(kLimit);
  const std::vector<Done> done = device.take_done();
  const auto of = [&done](std::string_view what) {
    return *std::ranges::find_if(done, [&](const Done& operation) { return operation.what == what; });
  };
  EXPECT_EQ(of("to host").stream, "snapshot");
  EXPECT_EQ(of("to host").purpose, Purpose::kSnapshot);
  EXPECT_LE(of("to host").end_ns, of("step").end_ns);
}

TEST(TimedStreamTest, AnOperationTakesTheTimeOfTheLinkAndTheLatency) {
  TestDevice device({.link_gb_per_s = 1, .latency_us = 2000});
  const auto stream = device.make_stream("copies");
  const Region region(device.allocate(1'000'000, "a"));
  stream->to_device(region, HostRegion(Buffer::heap(1'000'000)), Purpose::kBatch);  // 1 ms on the link
  stream->zero(region);
  stream->drain(kLimit);
  const std::vector<Done> done = device.take_done();
  EXPECT_GE(done.at(0).end_ns - done.at(0).begin_ns, 3'000'000);
  EXPECT_GE(done.at(1).end_ns - done.at(1).begin_ns, 2'000'000);
}

TEST(TimedStreamTest, DrainSaysWhatIsUnderWay) {
  TestDevice device;
  const auto stream = device.make_stream("update");
  stream->wait(device.make_fence(), 1);
  stream->zero(Region(device.allocate(8, "a")));
  EXPECT_EQ(error_of([&] { stream->drain(std::chrono::milliseconds(1)); }),
            "stream 'update' is not done within 1 ms: 'wait' is under way, and 1 operations wait");
  // The destructor does not wait for the fence, which nobody will signal.
}

TEST(TimedStreamTest, AFailedOperationMakesTheStreamFail) {
  TestDevice device;
  const auto stream = timed(device, "compute");
  const auto fence = device.make_fence();
  stream->signal(fence, 5);
  stream->signal(fence, 3);
  EXPECT_EQ(error_of([&] { stream->drain(kLimit); }), "a fence was signalled 3 when its value was 5");
  EXPECT_NE(error_of([&] { stream->signal(fence, 6); }), "no error");
  EXPECT_EQ(fence->value(), 5u);
}

TEST(TimedStreamTest, CallbacksAreCalledEvenIfAnEarlierOperationFails) {
  TestDevice device;
  const auto stream = timed(device, "copies");
  const auto fence = device.make_fence(), begin = device.make_fence();
  std::promise<void> called;
  stream->wait(begin, 1);  // So that everything is submitted before the failure.
  stream->signal(fence, 5);
  stream->signal(fence, 3);
  stream->signal(fence, 6);
  stream->then([&] { called.set_value(); });
  begin->signal(1);
  ASSERT_EQ(called.get_future().wait_for(kLimit), std::future_status::ready);
  EXPECT_EQ(error_of([&] { stream->drain(kLimit); }), "a fence was signalled 3 when its value was 5");
  EXPECT_EQ(fence->value(), 5u) << "other operations are dropped";
}

TEST(TimedStreamTest, AWrongArgumentIsRefusedAtOnceAndNotCounted) {
  TestDevice device;
  TestDevice other({.index = 1});
  const auto stream = device.make_stream("copies");
  const Region region(device.allocate(8, "gradients"));
  const Region foreign(other.allocate(8, "parameters"));
  EXPECT_EQ(error_of([&] { stream->to_device(region, HostRegion(Buffer::heap(9)), Purpose::kBatch); }),
            "a copy of gradients has 8 bytes at its end and 9 at its source");
  EXPECT_EQ(error_of([&] { stream->copy(region, foreign); }),
            "stream 'copies' of test_device 0 was given parameters, which is in the memory of "
            "test_device 1");
  EXPECT_EQ(device.link_bytes().all(), LinkCount{});
}

TEST(SharedFenceTest, AwaitThrowsWhenItsTimeIsOver) {
  TestDevice device;
  const auto fence = device.make_fence();
  fence->signal(2);
  fence->await(2, std::chrono::milliseconds(0));
  EXPECT_THAT(error_of([&] { fence->await(3, std::chrono::milliseconds(1)); }),
              HasSubstr("a fence has not reached 3 within 1 ms; its value is 2"));
}

}  // namespace
}  // namespace trainyard::test_device
