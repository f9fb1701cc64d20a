// SPDX-License-Identifier: Apache-2.0
// Tests runs on the test device, whose memory the processor cannot access outside of kernels and copies. Its kernels
// are those of the processor, so the results must be the same as with the accelerator `cpu`.

#include <gmock/gmock.h>

#include <fstream>
#include <numeric>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TrainingTest;

using Arguments = std::vector<std::string>;

constexpr const char* kDevice = "component.accelerator_host.params.accelerator={plugin=\"test_device\"}";
constexpr std::size_t kSteps = 40;
constexpr double kBatchBytes = 16 * 32 * 4 + 16 * 8;

class TestDeviceTest : public TrainingTest {
 protected:
  std::vector<std::string> losses_with(const std::string& directory, Arguments arguments) {
    arguments.push_back("max_steps=" + std::to_string(kSteps));
    arguments.emplace_back("placement=composed");
    run_to_end(directory, std::move(arguments));
    std::vector<std::string> all = losses(directory, kSteps);
    EXPECT_EQ(all.size(), kSteps);
    return all;
  }

  /// Trains on the processor and on the test device, and compares the losses and the checkpoints bit by bit.
  void expect_same_bits(const Arguments& arguments) {
    Arguments on_device = arguments;
    on_device.emplace_back(kDevice);
    const auto expected = losses_with("cpu", arguments);
    EXPECT_EQ(losses_with("device", on_device), expected);
    for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
      const std::string path = std::string("/checkpoints/step-00000040/") + file;
      const std::string saved = read("cpu" + path);
      EXPECT_FALSE(saved.empty()) << file;
      EXPECT_TRUE(read("device" + path) == saved) << file;
    }
  }

  double sum_of(const std::string& directory, const std::string& name) const {
    const std::vector<double> values = logged(directory, name);
    return std::accumulate(values.begin(), values.end(), 0.0);
  }
};

class TestDeviceRuleTest : public TestDeviceTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(TestDeviceRuleTest, TrainsWithTheBitsOfTheProcessor) { expect_same_bits({GetParam()}); }

std::string name_of_rule(const ::testing::TestParamInfo<const char*>& info) {
  static constexpr const char* kNames[] = {"Adamw", "Sgd", "Adam", "Rmsprop", "Adagrad"};
  return kNames[info.index];
}

INSTANTIATE_TEST_SUITE_P(Rules, TestDeviceRuleTest,
                         ::testing::Values("component.optimizer.params.rule=adamw",
                                           "component.optimizer.params={rule=\"sgd\",momentum=0.9,nesterov=true}",
                                           "component.optimizer.params={rule=\"adam\",amsgrad=true,weight_decay=0.1}",
                                           "component.optimizer.params={rule=\"rmsprop\",centered=true,momentum=0.9}",
                                           "component.optimizer.params.rule=adagrad"),
                         name_of_rule);

class TestDevicePrecisionTest : public TestDeviceTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(TestDevicePrecisionTest, TrainsWithTheBitsOfTheProcessor) {
  expect_same_bits({std::string("precision=") + GetParam()});
}

INSTANTIATE_TEST_SUITE_P(Precisions, TestDevicePrecisionTest, ::testing::Values("64-true", "bf16-true"),
                         [](const auto& info) {
                           return std::string(info.param) == "64-true" ? "Float64" : "BFloat16";
                         });

class TestDeviceStrategyTest : public TestDeviceTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(TestDeviceStrategyTest, TwoRanksTrainWithTheBitsOfTheProcessor) {
  expect_same_bits({"devices=2", std::string("strategy=") + GetParam()});
}

INSTANTIATE_TEST_SUITE_P(Strategies, TestDeviceStrategyTest,
                         ::testing::Values("ddp", "zero2", "fsdp", "local_sgd", "parameter_server"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(TestDeviceTest, AStepCopiesItsBatchAndItsLossAndNothingElse) {
  losses_with("device", {kDevice, "component.accelerator_host.params.log_device_stats=true"});
  for (const char* name : {"bytes_over_link.parameters", "bytes_over_link.gradients"}) {
    EXPECT_THAT(logged("device", name), IsEmpty()) << name;
  }
  EXPECT_EQ(sum_of("device", "bytes_over_link.batch"), kSteps * kBatchBytes);
  EXPECT_EQ(sum_of("device", "bytes_over_link"), kSteps * kBatchBytes);
  // What the device itself has counted. A batch can be copied ahead. The loss is read to check it and to report it.
  constexpr double kLossBytes = 2 * 4;
  const std::vector<double> in = logged("device", "link_to_device_bytes"), out = logged("device", "link_to_host_bytes");
  ASSERT_EQ(in.size(), kSteps);
  EXPECT_NEAR(in.back() - in.front(), (kSteps - 1) * kBatchBytes, 2 * kBatchBytes);
  EXPECT_NEAR(out.back() - out.front(), (kSteps - 1) * kLossBytes, 2 * kLossBytes);
}

TEST_F(TestDeviceTest, AnOptimizerInHostMemoryHasTheSameBits) {
  const auto expected = losses_with("device", {kDevice});
  EXPECT_EQ(losses_with("host", {kDevice, "component.optimizer.params.memory=host"}), expected);
  EXPECT_EQ(logged("host", "bytes_over_link.gradients").size(), kSteps);
}

TEST_F(TestDeviceTest, ACopyTakesTheTimeOfTheLink) {
  constexpr const char* kSlow =
      "component.accelerator_host.params.accelerator={plugin=\"test_device\",link_gb_per_s=0.001,latency_us=500}";
  losses_with("slow", {kSlow});
  const std::vector<testing::TrainedStep> all = steps("slow");
  // 2,176 bytes in two tensors, at 1 MB/s.
  EXPECT_GE(all.back().time - all.front().time, (kSteps - 2) * (kBatchBytes * 1e-6 + 2 * 500e-6));
}

TEST_F(TestDeviceTest, ARunThatResumesHasTheBitsOfOneThatDidNotStop) {
  const auto expected = losses_with("whole", {kDevice});
  run_to_end("half", {kDevice, "placement=composed", "max_steps=20"});
  run_to_end("rest", {kDevice, "placement=composed", "max_steps=40",
                      "component.checkpoint_writer.params.resume=" + (directory_ / "half/checkpoints/last").string()});
  std::vector<std::string> rest;
  for (const testing::TrainedStep& step : steps("rest")) rest.push_back(step.loss);
  EXPECT_EQ(rest, std::vector<std::string>(expected.begin() + 20, expected.end()));
}

/// On the processor, the GPT uses fused kernels, whose results differ by roundings.
TEST_F(TestDeviceTest, AGptWithDropoutDrawsTheNumbersOfTheProcessor) {
  {
    std::ofstream text(directory_ / "text.txt");
    for (int i = 0; i < 5000; ++i) text << "abcdefgh ijk.\n"[(i * i + i / 7) % 14];
  }
  const Arguments gpt{
      "component.accelerator_host.params.model={plugin=\"gpt\",layers=2,heads=2,width=16,dropout=0.2,sample_tokens=20}",
      "component.data_loader.params.dataset={plugin=\"text\",context=12,path=\"" + (directory_ / "text.txt").string() +
          "\"}"};
  Arguments on_device = gpt;
  on_device.emplace_back(kDevice);
  const auto expected = losses_with("cpu", gpt);
  const auto computed = losses_with("device", on_device);
  for (std::size_t i = 0; i < kSteps; ++i) {
    EXPECT_NEAR(std::stod(computed.at(i)), std::stod(expected.at(i)), 1e-4) << "step " << i + 1;
  }
  EXPECT_EQ(losses_with("again", on_device), computed);
}

TEST_F(TestDeviceTest, AModelThatDoesNotFitIsRefused) {
  const auto with_memory = [this](const std::string& directory, const std::string& bytes) {
    return run_to_end(
        directory,
        {"placement=composed",
         "component.accelerator_host.params.accelerator={plugin=\"test_device\",memory_bytes=" + bytes + "}"},
        1);
  };
  EXPECT_THAT(with_memory("no arena", "4096"),
              HasSubstr("7808 bytes are not allowed, rule memory_limit_bytes: 4096; the arena of model 'mlp' has 5632 "
                        "bytes, a batch of 16 samples has 2176"));
  EXPECT_THAT(with_memory("no activations", "12288"), HasSubstr("the test device has no room for"))
      << "it holds the arena and a batch, and nothing beside";
}

}  // namespace
}  // namespace trainyard
