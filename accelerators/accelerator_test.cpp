// SPDX-License-Identifier: Apache-2.0
#include "accelerators/accelerator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <sstream>

#include "accelerators/generator.h"
#include "core/memory/shared_pool.h"
#include "core/testing/error_of.h"
#include "core/traits/plugin_traits.h"
#include "messages/error.h"

namespace trainyard {
namespace {

/// A device that overrides only what the tests need, and inherits the other functions. Its tensors have no bytes.
class ImaginaryDevice final : public ClaimedDevice {
 public:
  ImaginaryDevice(const Accelerator& accelerator, int index)
      : ClaimedDevice(accelerator, at::Device(at::kMeta), "imaginary:" + std::to_string(index)) {}

  std::vector<Buffer> prepared;

 protected:
  void prepare_host_block(const Buffer& block) override { prepared.push_back(block); }
};

class Imaginary final : public Accelerator {
 public:
  using Accelerator::Accelerator;

  FoundDevices find_devices() const override { return found; }
  AcceleratorTraits traits() const override { return rules; }

  FoundDevices found{.count = 3, .problem = ""};
  AcceleratorTraits rules{.precisions = {"32-true", "64-true"}};

 protected:
  std::unique_ptr<ClaimedDevice> open(int index) const override {
    return std::make_unique<ImaginaryDevice>(*this, index);
  }
};

class AcceleratorTest : public ::testing::Test {
 protected:
  AcceleratorTest() {
    context_.where = "accelerator 'imaginary'";
    context_.parameters = "{}";
    context_.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(said_));
    context_.pool = &pool_;
  }

  std::ostringstream said_;
  core::SharedPool pool_;
  AcceleratorContext context_;
};

TEST_F(AcceleratorTest, AClaimedDeviceHasTheNameAndTheDeviceThatBatchesGoTo) {
  const Imaginary accelerator(context_);
  const auto device = accelerator.claim(2);
  EXPECT_EQ(device->name(), "imaginary:2");
  EXPECT_EQ(device->torch_device(), at::Device(at::kMeta));
  const at::Tensor there = at::ones({2}, at::TensorOptions().device(at::kMeta));
  const std::vector<at::Tensor> moved = device->to_device({at::ones({3}), there});
  ASSERT_EQ(moved.size(), 2u);
  EXPECT_EQ(moved[0].device().type(), at::kMeta);
  EXPECT_EQ(moved[0].numel(), 3);
  EXPECT_TRUE(moved[1].is_same(there)) << "what is there already is not copied";
}

TEST_F(AcceleratorTest, ADeviceThatDoesNotExistCannotBeClaimed) {
  Imaginary accelerator(context_);
  for (const int wrong : {-1, 3}) {
    const auto [code, text] = testing::error_of([&] { accelerator.claim(wrong); });
    EXPECT_EQ(code, Code::kNotFound);
    EXPECT_EQ(text, fmt::format("accelerator 'imaginary': there is no device {}; there are 3, counted from 0", wrong));
  }
  accelerator.found = {.count = 0, .problem = "no driver"};
  EXPECT_EQ(testing::error_of([&] { accelerator.claim(0); }).second,
            "accelerator 'imaginary': there is no device 0; there are 0, counted from 0; no driver");
}

TEST_F(AcceleratorTest, AutoIsOneDeviceAndAllAndAListAreThoseThatExist) {
  const Imaginary accelerator(context_);
  EXPECT_THAT(accelerator.parse_devices("1"), ::testing::ElementsAre(0));
  EXPECT_THAT(accelerator.parse_devices("3"), ::testing::ElementsAre(0, 1, 2));
  EXPECT_THROW(accelerator.parse_devices("auto"), Error) << "the planner has decided what it means";
  EXPECT_THAT(accelerator.parse_devices("[2, 0]"), ::testing::ElementsAre(2, 0));
  EXPECT_THROW(accelerator.parse_devices("[3]"), Error);
  EXPECT_THROW(accelerator.parse_devices("4"), Error) << "these devices are not shared";
}

TEST_F(AcceleratorTest, DevicesThatDrawFromTheCpusGeneratorNeedNoCodeForSeeds) {
  const Imaginary accelerator(context_);
  const auto device = accelerator.claim(0);
  device->seed(7);
  const at::Tensor first = at::rand({5});
  const std::vector<std::uint8_t> state = device->rng_state();
  const at::Tensor second = at::rand({5});
  device->seed(7);
  EXPECT_TRUE(at::rand({5}).equal(first));
  device->set_rng_state(state);
  EXPECT_TRUE(at::rand({5}).equal(second));
}

TEST_F(AcceleratorTest, EveryBlockThatIsHandedOutIsPreparedFirst) {
  const Imaginary accelerator(context_);
  const auto device = accelerator.claim(0);
  const Buffer block = device->allocate_host_block(100);
  EXPECT_GE(block.size(), 100u);
  const auto& prepared = dynamic_cast<ImaginaryDevice&>(*device).prepared;
  ASSERT_EQ(prepared.size(), 1u);
  EXPECT_EQ(prepared[0].data(), block.data());
}

TEST_F(AcceleratorTest, EveryDeviceWithStaticGraphsWarnsOfABatchOfAnotherShape) {
  Imaginary accelerator(context_);
  accelerator.rules.static_graph_only = true;
  const auto device = accelerator.claim(0);
  device->to_device({at::ones({8, 3})});
  device->to_device({at::ones({8, 3})});
  EXPECT_EQ(said_.str(), "");
  device->to_device({at::ones({5, 3})});
  EXPECT_THAT(said_.str(), ::testing::HasSubstr("accelerator 'imaginary': rule static_graph_only: a batch of another "
                                                "shape came, number 2"));
}

TEST(GeneratorTest, StatesOfSeveralGeneratorsFollowEachOther) {
  at::Generator first = at::make_generator<at::CPUGeneratorImpl>(1);
  at::Generator second = at::make_generator<at::CPUGeneratorImpl>(2);
  using namespace accelerators;
  const std::vector<std::uint8_t> states = state_of_generators({first, second});
  const at::Tensor numbers = at::rand({3}, first);
  const at::Tensor others = at::rand({3}, second);
  restore_generators({first, second}, states, "here");
  EXPECT_TRUE(at::rand({3}, first).equal(numbers));
  EXPECT_TRUE(at::rand({3}, second).equal(others));
  EXPECT_THROW(restore_generators({first}, states, "here"), Error) << "bytes are left over";
  EXPECT_THROW(restore_generators({first, second, first}, states, "here"), Error);
  EXPECT_THROW(restore_generators({first}, {1, 2, 3}, "here"), Error);
}

TEST_F(AcceleratorTest, TellsThePlannerItsRulesAndWhatIsMissing) {
  Imaginary accelerator(context_);
  accelerator.found = {.count = 0, .problem = "no driver"};
  accelerator.rules = {.device_counts = {1, 8}, .gradient_clipping = false, .memory_limit_bytes = 100, .rules = "tpu"};
  const auto report = std::get<AcceleratorReport>(accelerator.declared_traits().of_kind);
  EXPECT_FALSE(report.available());
  EXPECT_EQ(report.problem, "no driver");
  EXPECT_THAT(report.traits.device_counts, ::testing::ElementsAre(1, 8));
  EXPECT_FALSE(report.traits.gradient_clipping);
  EXPECT_EQ(report.traits.memory_limit_bytes, 100u);
  EXPECT_EQ(report.traits.rules, "tpu");
}

}  // namespace
}  // namespace trainyard
