// SPDX-License-Identifier: Apache-2.0
// Tests runs that train in the memory of a device. The accelerator `simulated` computes on the processor but has
// separate device memory, so the results must be the same as with the accelerator `cpu`.

#include <gmock/gmock.h>

#include <numeric>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TrainingTest;

constexpr const char* kDevice = "component.accelerator_host.params.accelerator={plugin=\"simulated\"}";
constexpr const char* kOnHost = "component.optimizer.params.memory=host";

class DeviceMemoryTest : public TrainingTest {
 protected:
  using Arguments = std::vector<std::string>;

  std::vector<std::string> losses_with(const std::string& directory, Arguments arguments) {
    arguments.push_back("max_steps=40");
    run_to_end(directory, std::move(arguments));
    return losses(directory, 40);
  }

  static double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

  static constexpr double kParameterBytes =
      (32 * 16 + 16 + 16 * 10 + 16) * 4;  ///< The last bias is padded to 64 bytes.
};

/// Runs each update rule on the device and on the host.
class UpdateRuleTest : public DeviceMemoryTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(UpdateRuleTest, TheUpdateOnTheDeviceHasTheBitsOfTheHostAndCopiesNoParametersAndNoGradients) {
  const std::string rule = GetParam();
  const auto expected = losses_with("cpu", {rule, "placement=composed"});
  ASSERT_EQ(expected.size(), 40u);
  EXPECT_EQ(losses_with("device", {rule, "placement=composed", kDevice}), expected);
  EXPECT_EQ(losses_with("host", {rule, "placement=composed", kDevice, kOnHost}), expected);
  for (const char* name : {"bytes_over_link.parameters", "bytes_over_link.gradients"}) {
    EXPECT_THAT(logged("device", name), IsEmpty()) << name;
    EXPECT_EQ(logged("host", name), std::vector<double>(40, kParameterBytes)) << name;
  }
  // A batch can be copied ahead, so a report can count the batch of the next step instead of its own.
  EXPECT_EQ(sum_of(logged("device", "bytes_over_link.batch")), 40 * (16 * 32 * 4 + 16 * 8));
  EXPECT_EQ(sum_of(logged("device", "bytes_over_link")), sum_of(logged("device", "bytes_over_link.batch")));
  EXPECT_THAT(logged("cpu", "bytes_over_link"), IsEmpty());
}

std::string name_of_rule(const ::testing::TestParamInfo<const char*>& info) {
  static constexpr const char* kNames[] = {"adamw", "sgd", "adam", "rmsprop", "adagrad"};
  return kNames[info.index];
}

INSTANTIATE_TEST_SUITE_P(Rules, UpdateRuleTest,
                         ::testing::Values("component.optimizer.params.rule=adamw",
                                           "component.optimizer.params={rule=\"sgd\",momentum=0.9,nesterov=true}",
                                           "component.optimizer.params={rule=\"adam\",amsgrad=true,weight_decay=0.1}",
                                           "component.optimizer.params={rule=\"rmsprop\",centered=true,momentum=0.9}",
                                           "component.optimizer.params.rule=adagrad"),
                         name_of_rule);

class DeviceStrategyTest : public DeviceMemoryTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(DeviceStrategyTest, TrainsOnDevicesAsOnTheHost) {
  const std::string strategy = std::string("strategy=") + GetParam();
  const Arguments common{"devices=2", strategy, "placement=composed",
                         "component.accelerator_host.params.model={plugin=\"mlp\",hidden=[16,16,16]}"};
  const auto expected = losses_with("cpu", common);
  ASSERT_EQ(expected.size(), 40u);
  Arguments on_device = common;
  on_device.push_back(kDevice);
  EXPECT_EQ(losses_with("device", on_device), expected);
  for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
    const std::string path = std::string("/checkpoints/step-00000040/") + file;
    const std::string saved = read("cpu" + path);
    EXPECT_FALSE(saved.empty()) << file;
    EXPECT_TRUE(read("device" + path) == saved) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, DeviceStrategyTest,
                         ::testing::Values("ddp", "dp", "zero1", "zero2", "fsdp", "local_sgd", "diloco", "horovod",
                                           "hierarchical", "parameter_server", "pipeline"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(DeviceMemoryTest, ARunInSeveralProcessesUpdatesOnTheHostAndHasTheSameBits) {
  const auto expected = losses_with("composed", {"placement=composed", kDevice});
  ASSERT_EQ(expected.size(), 40u);
  EXPECT_EQ(losses_with("processes", {"placement=processes", kDevice}), expected);
  EXPECT_EQ(logged("processes", "bytes_over_link.gradients"), std::vector<double>(40, kParameterBytes));
}

TEST_F(DeviceMemoryTest, AComponentThatReadsTheArenaGetsThePresentParameters) {
  // The averager logs a hash of the mean of all parameters that it has read.
  const std::string averager = "[component.averager]\nplugin = \"averager\"\n";
  const auto hash = [](const std::string& said) {
    const std::size_t begin = said.find("averager: ");
    return begin == std::string::npos ? ""
                                      : said.substr(begin, std::string("averager: 0123456789abcdef after 40").size());
  };
  const std::string expected = hash(run_to_end("cpu", {"max_steps=40", "placement=composed"}, 0, averager));
  EXPECT_THAT(expected, HasSubstr("after 40"));
  EXPECT_EQ(hash(run_to_end("device", {"max_steps=40", "placement=composed", kDevice}, 0, averager)), expected);
  EXPECT_EQ(logged("device", "bytes_over_link.readers"), std::vector<double>(40, kParameterBytes));
}

TEST_F(DeviceMemoryTest, ThePlanSaysWhatIsCopiedAndAnImpossibleWishIsRefused) {
  const auto planned = [&](const char* placement) {
    const auto plan = run({"plan", training_file("planned", ""), std::string("placement=") + placement, kDevice});
    EXPECT_EQ(plan->wait(), 0) << plan->all();
    return plan->all();
  };
  EXPECT_THAT(planned("composed"),
              HasSubstr("never         gradients and parameters: the optimizer works on the device"));
  EXPECT_THAT(planned("composed"), HasSubstr("memory = \"device\""));
  EXPECT_THAT(planned("processes"), ContainsRegex("optimizer is[ \n]+not in the process of accelerator_host"));
  const std::string refused =
      run_to_end("refused", {"placement=processes", kDevice, "component.optimizer.params.memory=device"}, 2);
  EXPECT_THAT(refused,
              HasSubstr("component.optimizer.params.memory: \"device\" is not possible, because optimizer is "
                        "not in the process of accelerator_host, and the accelerator simulated cannot share its "
                        "memory; allowed: \"auto\", \"host\""));
}

}  // namespace
}  // namespace trainyard
