#include "accelerators/accelerator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accelerators/generator.h"
#include "messages/error.h"

namespace trainyard {
namespace {

/// Three devices whose tensors have no bytes; the interface's defaults do the rest.
class Imaginary : public Accelerator {
 public:
  using Accelerator::Accelerator;

  bool is_available() const override { return available; }
  std::string problem() const override { return "no driver"; }
  int device_count() const override { return 3; }
  AcceleratorTraits traits() const override { return rules; }
  at::Device device(int index) const override {
    asked_for = index;
    return at::kMeta;  // LibTorch gives it no index.
  }

  bool available = true;
  AcceleratorTraits rules{.precisions = {"32-true", "64-true"}};
  int set_up_with = -1;
  mutable int asked_for = -1;

 protected:
  void set_up(int index) override { set_up_with = index; }
};

AcceleratorContext described() {
  AcceleratorContext context;
  context.where = "accelerator 'imaginary'";
  context.parameters = "{}";
  return context;
}

class AcceleratorTest : public testing::Test {
 protected:
  AcceleratorContext context_ = described();
  Imaginary accelerator_{context_};
};

TEST_F(AcceleratorTest, BatchesGoToTheDeviceThatWasClaimed) {
  accelerator_.claim(2);
  EXPECT_EQ(accelerator_.set_up_with, 2);
  const at::Tensor there = at::ones({2}, at::TensorOptions().device(at::kMeta));
  const std::vector<at::Tensor> moved = accelerator_.to_device({at::ones({3}), there});
  EXPECT_EQ(accelerator_.asked_for, 2);
  ASSERT_EQ(moved.size(), 2u);
  EXPECT_EQ(moved[0].device().type(), at::kMeta);
  EXPECT_EQ(moved[0].numel(), 3);
  EXPECT_TRUE(moved[1].is_same(there)) << "what is there already is not copied";
}

TEST_F(AcceleratorTest, AllAndAListOfDevicesAreThoseThatExist) {
  EXPECT_THAT(accelerator_.parse_devices("-1"), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(accelerator_.parse_devices("[2, 0]"), testing::ElementsAre(2, 0));
  EXPECT_THROW(accelerator_.parse_devices("[3]"), Error);
}

TEST_F(AcceleratorTest, DevicesThatDrawFromTheCpusGeneratorNeedNoCodeForSeeds) {
  accelerator_.seed(7);
  const at::Tensor first = at::rand({5});
  const std::vector<std::uint8_t> state = accelerator_.rng_state();
  const at::Tensor second = at::rand({5});
  accelerator_.seed(7);
  EXPECT_TRUE(at::rand({5}).equal(first));
  accelerator_.set_rng_state(state);
  EXPECT_TRUE(at::rand({5}).equal(second));
}

TEST(GeneratorTest, StatesOfSeveralGeneratorsFollowEachOther) {
  at::Generator first = at::make_generator<at::CPUGeneratorImpl>(1);
  at::Generator second = at::make_generator<at::CPUGeneratorImpl>(2);
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

TEST_F(AcceleratorTest, FactsSayTheRulesAndWhatIsMissing) {
  EXPECT_EQ(accelerator_.facts().at("device_counts"), "any");
  EXPECT_EQ(accelerator_.facts().at("precisions"), "32-true, 64-true");
  EXPECT_EQ(accelerator_.facts().count("memory_limit_bytes"), 0u);
  EXPECT_EQ(accelerator_.facts().count("problem"), 0u) << "it is available";
  accelerator_.available = false;
  accelerator_.rules = {.device_counts = {1, 8}, .gradient_clipping = false, .memory_limit_bytes = 100, .rules = "tpu"};
  const auto facts = accelerator_.facts();
  EXPECT_EQ(facts.at("available"), "false");
  EXPECT_EQ(facts.at("problem"), "no driver");
  EXPECT_EQ(facts.at("device_counts"), "1, 8");
  EXPECT_EQ(facts.at("gradient_clipping"), "false");
  EXPECT_EQ(facts.at("memory_limit_bytes"), "100");
  EXPECT_EQ(facts.at("rules"), "tpu");
}

}  // namespace
}  // namespace trainyard
