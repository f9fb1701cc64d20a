// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/test_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/error_of.h"
#include "messages/error.h"

namespace trainyard::test_device {
namespace {

PluginContext context(const char* parameters) {
  PluginContext context;
  context.where = "device 'test_device'";
  context.parameters = parameters;
  return context;
}

TEST(TestDriverTest, OpensADeviceByItsIndexWithThePropertiesThatWereGiven) {
  PluginContext given = context(R"({"memory_bytes": 8192, "latency_us": 3, "link_gb_per_s": 2})");
  TestDriver driver(given);
  driver.check_all_given_are_known();
  const auto device = driver.open("3");
  EXPECT_EQ(device->id(), (DeviceId{"test_device", "3"}));
  const Options& options = dynamic_cast<TestDevice&>(*device).options();
  EXPECT_EQ(options.memory_bytes, 8192u);
  EXPECT_EQ(options.latency_us, 3);
  EXPECT_EQ(options.link_gb_per_s, 2);
}

TEST(TestDriverTest, ADeviceThatDoesNotExistIsRefused) {
  PluginContext given = context("{}");
  TestDriver driver(given);
  for (const char* uuid : {"8", "-1", "", "x", "1x"}) {
    const auto [code, text] = testing::error_of([&] { driver.open(uuid); });
    EXPECT_EQ(code, Code::kNotFound) << uuid;
    EXPECT_THAT(text, ::testing::HasSubstr("device 'test_device': there is no device '")) << uuid;
    EXPECT_THAT(text, ::testing::HasSubstr("there are 0 to 7")) << uuid;
  }
}

TEST(TestDriverTest, TwoObjectsOpenTheSameDevice) {
  PluginContext given = context("{}");
  TestDriver driver(given);
  const auto first = driver.open("0"), second = driver.open("0");
  const devices::Region region(first->allocate(16, "a"));
  EXPECT_EQ(second->open_block(first->export_block(region))->bytes(), 16u);
}

}  // namespace
}  // namespace trainyard::test_device
