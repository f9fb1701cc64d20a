// SPDX-License-Identifier: Apache-2.0
#include "accelerators/torch_device/torch_device.h"

#include <ATen/ops/ones.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "core/testing/temporary_folder.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

class TorchDeviceTest : public ::testing::Test {
 protected:
  std::unique_ptr<TorchDevice> make(const std::string& parameters) {
    context_.where = "accelerator 'torch_device'";
    context_.parameters = parameters;
    return std::make_unique<TorchDevice>(context_);
  }

  std::string problem(const std::string& parameters) {
    const auto made = make(parameters);
    EXPECT_FALSE(made->is_available());
    EXPECT_EQ(made->device_count(), 0);
    return made->find_devices().problem;
  }

  AcceleratorContext context_;
};

TEST_F(TorchDeviceTest, WithoutATypeItSaysWhatIsMissing) {
  EXPECT_EQ(problem("{}"), "device_type must be given: hpu, ipu, xla, xpu, ...");
  EXPECT_EQ(make("{}")->traits().auto_priority, 0) << "never taken by itself";
}

TEST_F(TorchDeviceTest, TypesThatNobodyHasBroughtAreRefused) {
  EXPECT_EQ(problem(R"({"device_type": "hpu"})"),
            "no backend is registered for 'hpu'; give the library that brings it");
  EXPECT_EQ(problem(R"({"device_type": "abacus"})"), "device_type = 'abacus' is unknown to LibTorch");
  try {
    make(R"({"device_type": "hpu"})")->claim(0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("accelerator 'torch_device': there is no device 0; there are 0, counted from 0; "
                          "no backend is registered"));
  }
}

TEST_F(TorchDeviceTest, LibrariesThatCannotBeLoadedAreNamedWithTheReason) {
  EXPECT_EQ(problem(R"({"device_type": "hpu", "library": "/nowhere/libhpu.so"})"),
            "library = '/nowhere/libhpu.so': there is no such file");
  const testing::TemporaryFolder folder;
  const std::string text = folder.write("libtext.so", "no library");
  EXPECT_THAT(problem(fmt::format(R"({{"device_type": "hpu", "library": "{}"}})", text)),
              HasSubstr("cannot be loaded: "));
  ::chmod(text.c_str(), 0666);
  EXPECT_THAT(problem(fmt::format(R"({{"device_type": "hpu", "library": "{}"}})", text)),
              HasSubstr("can be written by everyone"));
}

/// This is one test, because a library cannot be unloaded: from then on the type is known.
TEST_F(TorchDeviceTest, ALibraryBringsItsDevicesAndTheParametersBringTheirRules) {
  const std::string library = fmt::format(R"("library": "{}")", TRAINYARD_TINY_BACKEND);
  EXPECT_EQ(problem("{" + library + R"(, "device_type": "hpu"})"),
            "no backend is registered for 'hpu'; the library brings another one");
  const auto device = make("{" + library + R"(, "device_type": "privateuseone", "device_counts": [1, 3],
                                                "precisions": ["32-true", "bf16-mixed"], "gradient_clipping": false})");
  EXPECT_TRUE(device->is_available()) << device->find_devices().problem;
  EXPECT_EQ(device->device_count(), 3);
  EXPECT_THAT(device->parse_devices("1"), ::testing::ElementsAre(0));
  EXPECT_THAT(device->parse_devices("3"), ::testing::ElementsAre(0, 1, 2));
  const auto claimed = device->claim(2);
  EXPECT_EQ(claimed->torch_device(), at::Device(at::kPrivateUse1, 2));
  EXPECT_EQ(c10::impl::getDeviceGuardImpl(at::kPrivateUse1)->getDevice().index(), 2);
  claimed->synchronize();
  const AcceleratorTraits traits = device->traits();
  EXPECT_THAT(traits.device_counts, ::testing::ElementsAre(1, 3));
  EXPECT_FALSE(traits.gradient_clipping);
  EXPECT_FALSE(traits.host_memory);
  EXPECT_EQ(traits.rules, "privateuseone");
}

/// The processor stands for a device whose graphs are compiled ahead of time.
TEST_F(TorchDeviceTest, ABatchOfAnotherShapeIsWarnedOfWhereTheGraphIsStatic) {
  std::ostringstream said;
  context_.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(said));
  const auto accelerator = make(R"({"device_type": "cpu", "static_graph_only": true})");
  const auto device = accelerator->claim(0);
  device->to_device({at::ones({8, 3})});
  EXPECT_EQ(said.str(), "");
  device->to_device({at::ones({5, 3})});
  EXPECT_THAT(said.str(), HasSubstr("rule static_graph_only: a batch of another shape came"));
}

}  // namespace
}  // namespace trainyard
