// SPDX-License-Identifier: Apache-2.0
#include "tests/test_accelerator/test_accelerator.h"

#include <ATen/Functions.h>
#include <gmock/gmock.h>
#include <spdlog/sinks/null_sink.h>

#include "core/testing/error_of.h"
#include "messages/error.h"

namespace trainyard::test_accelerator {
namespace {

class TestAcceleratorTest : public ::testing::Test {
 protected:
  std::unique_ptr<TestAccelerator> make(const std::string& parameters) {
    context_.where = "accelerator 'test_device'";
    context_.parameters = parameters;
    context_.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
    auto made = std::make_unique<TestAccelerator>(context_);
    made->check_all_given_are_known();
    return made;
  }

  AcceleratorContext context_;
};

TEST_F(TestAcceleratorTest, HasMemoryOfItsOwnThatOtherProcessesCanOpen) {
  const AcceleratorTraits traits = make(R"({"memory_bytes": 123456})")->traits();
  EXPECT_FALSE(traits.host_memory);
  EXPECT_EQ(traits.shares_memory_by, "test_device");
  EXPECT_EQ(traits.memory_limit_bytes, 123456u);
  EXPECT_EQ(traits.auto_priority, 0) << "never chosen by itself";
}

TEST_F(TestAcceleratorTest, TheParametersAreThePropertiesOfTheDevice) {
  const auto accelerator = make(R"({"memory_bytes": 1000000, "link_gb_per_s": 2, "latency_us": 3})");
  const auto claimed = accelerator->claim(5);
  EXPECT_EQ(claimed->name(), "test_device:5");
  ASSERT_NE(claimed->native(), nullptr);
  const auto& device = dynamic_cast<test_device::TestDevice&>(*claimed->native()->device);
  EXPECT_EQ(device.id(), (DeviceId{"test_device", "5"}));
  EXPECT_EQ(device.options().memory_bytes, 1'000'000u);
  EXPECT_EQ(device.options().link_gb_per_s, 2);
  EXPECT_EQ(device.options().latency_us, 3);
}

TEST_F(TestAcceleratorTest, TensorsAndBlocksAreInOneMemory) {
  const auto accelerator = make("{}");
  const auto claimed = accelerator->claim(6);
  const at::Tensor tensor = at::ones({1000}).to(claimed->torch_device());
  const auto block = claimed->native()->device->allocate(8192, "parameters");
  const auto stats = claimed->stats();
  EXPECT_EQ(stats.at("tensor_bytes"), 4096);
  EXPECT_EQ(stats.at("memory_bytes"), 4096 + 8192);
  EXPECT_EQ(stats.at("link_to_device_bytes"), 4000);
}

TEST_F(TestAcceleratorTest, ABatchIsCountedAndReallyCopied) {
  const auto accelerator = make("{}");
  const auto claimed = accelerator->claim(7);
  claimed->to_device({at::ones({10}), at::ones({5}, at::kLong)});
  EXPECT_EQ(claimed->link_bytes()->of(devices::Purpose::kBatch), (devices::LinkCount{80, 0}));
  EXPECT_EQ(claimed->stats().at("link_to_device_bytes"), 80);
}

TEST_F(TestAcceleratorTest, TheStreamWorksWithinTheCallOnTheMemoryOfTensors) {
  const auto accelerator = make("{}");
  const auto claimed = accelerator->claim(0);
  const NativeDevice& native = *claimed->native();
  const devices::Region region(native.device->allocate(4096, "parameters"));
  const at::Tensor ones = at::ones({1024}).to(claimed->torch_device());
  const at::Tensor flat = at::from_blob(
      region.block().address(), {1024}, {1}, [](void*) {}, ones.options(), claimed->torch_device());
  flat.copy_(ones);
  native.stream->zero(region.part(0, 2048));
  EXPECT_EQ(flat.sum().item<float>(), 512);
}

}  // namespace
}  // namespace trainyard::test_accelerator
