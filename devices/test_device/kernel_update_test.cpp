// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/kernel_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/testing/error_of.h"
#include "devices/test_device/test_device.h"
#include "messages/error.h"
#include "messages/half.h"

// tests/test_accelerator compares the results with those of the optimizer's kernels.

namespace trainyard::test_device {
namespace {

using devices::Coefficients;
using devices::Formula;
using devices::HostRegion;
using devices::Purpose;
using devices::Region;
using devices::UpdateRegions;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr std::chrono::milliseconds kLimit{20'000};

template <class T>
Region region_of(TestDevice& device, devices::Stream& stream, const std::vector<T>& values) {
  const Region region(device.allocate(values.size() * sizeof(T), "values"));
  const Buffer buffer = Buffer::heap(region.bytes());
  std::memcpy(buffer.data(), values.data(), region.bytes());
  stream.to_device(region, HostRegion(buffer), Purpose::kState);
  return region;
}

template <class T>
std::vector<T> values_of(devices::Stream& stream, const Region& region) {
  const Buffer buffer = Buffer::heap(region.bytes());
  stream.to_host(HostRegion(buffer), region, Purpose::kSnapshot);
  stream.drain(kLimit);
  std::vector<T> values(region.bytes() / sizeof(T));
  std::memcpy(values.data(), buffer.data(), region.bytes());
  return values;
}

TEST(KernelUpdateTest, EachRangeIsUpdatedWithItsCoefficientsAndTheGradientsAreZeroed) {
  TestDevice device;
  const auto stream = device.make_stream("update");
  const Region parameters = region_of<float>(device, *stream, {1, 2, 3, 4, 5});
  const Region gradients = region_of<float>(device, *stream, {1, 1, 1, 1, 1});
  const Region momentum = region_of<float>(device, *stream, {0, 0, 0, 8, 0});
  const auto update = device.make_update(
      *stream, {.formula = Formula::kSgdMomentum, .ranges = {{0, 2}, {3, 1}}, .state = {}},
      {.dtype = DType::kFloat32, .parameters = parameters, .gradients = gradients, .state = {momentum}});
  update->run(std::vector<Coefficients<double>>{{.step_size = 0.5, .decay1 = 0.5}, {.step_size = 0.25, .decay1 = 0.5}});
  EXPECT_THAT(values_of<float>(*stream, parameters), ElementsAre(0.5, 1.5, 3, 2.75, 5));
  EXPECT_THAT(values_of<float>(*stream, gradients), ElementsAre(0, 0, 1, 0, 1));
  EXPECT_THAT(values_of<float>(*stream, momentum), ElementsAre(1, 1, 0, 5, 0));
}

TEST(KernelUpdateTest, SixteenBitParametersHaveFloatState) {
  TestDevice device;
  const auto stream = device.adopt_stream("compute", nullptr);
  BFloat16 one, tenth;
  store(1.0f, one);
  store(0.1f, tenth);
  const Region parameters = region_of<BFloat16>(device, *stream, std::vector<BFloat16>(3, one));
  const Region gradients = region_of<BFloat16>(device, *stream, std::vector<BFloat16>(3, tenth));
  const Region momentum = region_of<float>(device, *stream, {0, 0, 0});
  const auto update = device.make_update(
      *stream, {.formula = Formula::kSgdMomentum, .ranges = {{0, 3}}, .state = {}},
      {.dtype = DType::kBFloat16, .parameters = parameters, .gradients = gradients, .state = {momentum}});
  update->run(std::vector<Coefficients<double>>{{.step_size = 1}});
  EXPECT_THAT(values_of<float>(*stream, momentum), Each(load(tenth)));
  BFloat16 expected;
  store(1.0f - load(tenth), expected);
  for (const BFloat16 value : values_of<BFloat16>(*stream, parameters)) EXPECT_EQ(value.bits, expected.bits);
}

TEST(KernelUpdateTest, IsAnOperationOfItsStream) {
  TestDevice device;
  const auto stream = device.make_stream("update");
  const Region region = region_of<double>(device, *stream, {1, 2});
  const auto update = device.make_update(*stream, {.formula = Formula::kSgd, .ranges = {{0, 2}}, .state = {}},
                                         {.dtype = DType::kFloat64,
                                          .parameters = region,
                                          .gradients = region_of<double>(device, *stream, {1, 1}),
                                          .state = {}});
  stream->drain(kLimit);
  device.take_done();
  const auto fence = device.make_fence();
  stream->wait(fence, 1);
  update->run(std::vector<Coefficients<double>>(1));
  EXPECT_TRUE(device.take_done().empty()) << "run() does not wait";
  fence->signal(1);
  stream->drain(kLimit);
  const std::vector<Done> done = device.take_done();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_STREQ(done[1].what, "update");
}

TEST(KernelUpdateTest, IntegersAreRefused) {
  TestDevice device;
  const auto stream = device.make_stream("update");
  const Region region(device.allocate(8, "a"));
  EXPECT_EQ(testing::error_of([&] {
              device.make_update(*stream, {},
                                 {.dtype = DType::kInt64, .parameters = region, .gradients = region, .state = {}});
            }).first,
            Code::kUnsupported);
}

}  // namespace
}  // namespace trainyard::test_device
