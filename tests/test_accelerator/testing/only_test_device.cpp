// SPDX-License-Identifier: Apache-2.0
// Lets the contract test of accelerators find the plugins for tests, and restricts it to the accelerator test_device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  ::setenv("TRAINYARD_PLUGIN_PATH", TRAINYARD_TEST_PLUGINS, /*overwrite=*/1);
  GTEST_FLAG_SET(filter, "*/TestDevice");
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
