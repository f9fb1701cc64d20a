// SPDX-License-Identifier: Apache-2.0
#include "accelerators/native_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plugin/loader.h"
#include "core/testing/error_of.h"
#include "messages/error.h"

namespace trainyard::accelerators {
namespace {

class NativeDeviceTest : public ::testing::Test {
 protected:
  NativeDeviceTest() {
    context_.where = "accelerator 'card'";
    context_.parameters = R"({"a parameter": "of the accelerator"})";
    context_.plugins = &plugins_;
  }

  core::PluginLoader plugins_{{TRAINYARD_TEST_PLUGINS}};
  PluginContext context_;
};

TEST_F(NativeDeviceTest, HasTheDeviceOfThePluginAndTheStreamOfTheLibrary) {
  const NativeDevice native = open_native_device(context_, "test_device", "2", nullptr);
  EXPECT_EQ(native.device->id(), (DeviceId{"test_device", "2"}));
  EXPECT_EQ(native.stream->name(), "compute");
  native.stream->zero(devices::Region(native.device->allocate(4096, "parameters")));
}

TEST_F(NativeDeviceTest, WhatIsMissingIsNamed) {
  const auto error_for = [&](const char* kind, const char* uuid) {
    return testing::error_of([&] { open_native_device(context_, kind, uuid, nullptr); }).second;
  };
  EXPECT_THAT(error_for("test_devise", "0"), ::testing::HasSubstr("no device named 'test_devise'; did you mean"));
  EXPECT_THAT(error_for("test_device", "9"),
              ::testing::HasSubstr("device 'test_device' of accelerator 'card': there is no device '9'"));
}

}  // namespace
}  // namespace trainyard::accelerators
