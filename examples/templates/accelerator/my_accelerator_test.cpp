// SPDX-License-Identifier: Apache-2.0
#include "accelerators/my_accelerator/my_accelerator.h"

#include <gtest/gtest.h>

#include "messages/error.h"

namespace example {
namespace {

TEST(MyAcceleratorTest, ClaimsOnlyDevicesThatExist) {
  trainyard::AcceleratorContext context;
  context.where = "accelerator 'my_accelerator'";
  context.parameters = R"({"device_count": 3})";
  const MyAccelerator accelerator(context);
  EXPECT_EQ(accelerator.device_count(), 3);
  EXPECT_EQ(accelerator.parse_devices("[0, 2]"), (std::vector<int>{0, 2}));
  EXPECT_EQ(accelerator.claim(2)->torch_device(), at::Device(at::kCPU));
  EXPECT_THROW(accelerator.claim(3), trainyard::Error);
}

}  // namespace
}  // namespace example
