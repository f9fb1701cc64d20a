// SPDX-License-Identifier: Apache-2.0
// Trains on a real GPU. Every test says that it is skipped where there is none.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "tests/gpu/gpu_fixture.h"

namespace trainyard {
namespace {

using ::testing::IsEmpty;
using testing::kGpu;
using ::testing::Not;

using Arguments = std::vector<std::string>;

constexpr std::size_t kSteps = 40;

class GpuTest : public testing::GpuRunTest {
 protected:
  std::vector<double> losses_with(const std::string& directory, Arguments arguments) {
    arguments.push_back("max_steps=" + std::to_string(kSteps));
    run_to_end(directory, std::move(arguments));
    std::vector<double> values;
    for (const std::string& loss : losses(directory, kSteps)) values.push_back(std::stod(loss));
    EXPECT_EQ(values.size(), kSteps);
    return values;
  }
};

TEST_F(GpuTest, ARunHasTheLossesOfTheProcessorToSingleRoundings) {
  const auto expected = losses_with("cpu", {"placement=composed"});
  const auto gpu = losses_with("gpu", {"placement=composed", kGpu});
  for (std::size_t i = 0; i < kSteps; ++i) EXPECT_NEAR(gpu[i], expected[i], 1e-5 * (1 + expected[i])) << "step " << i;
}

/// What a run does in one process and in several.
class GpuPlacementTest : public GpuTest, public ::testing::WithParamInterface<const char*> {
 protected:
  static std::string placement() { return std::string("placement=") + GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(All, GpuPlacementTest, ::testing::Values("composed", "processes"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(GpuPlacementTest, NoStepCopiesParametersOrGradients) {
  losses_with("gpu", {placement(), kGpu});
  // A batch is copied ahead, so a report can count the batch of the next step instead of its own.
  constexpr double kBatchBytes = 16 * 32 * 4 + 16 * 8;
  for (const char* name : {"bytes_over_link", "bytes_over_link.batch"}) {
    const std::vector<double> bytes = logged("gpu", name);
    EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), 0.0), kSteps * kBatchBytes) << name;
  }
}

TEST_F(GpuTest, ADeterministicRunHasTheSameBitsInOneProcessAndInMany) {
  const Arguments common{kGpu, "component.accelerator_host.params.deterministic=true",
                         "component.accelerator_host.params.clip_norm=1.0"};
  Arguments composed = common, again = common, processes = common;
  composed.emplace_back("placement=composed");
  again.emplace_back("placement=composed");
  processes.emplace_back("placement=processes");
  const auto expected = losses_with("composed", composed);
  EXPECT_EQ(losses_with("again", again), expected);
  EXPECT_EQ(losses_with("processes", processes), expected);
}

TEST_P(GpuPlacementTest, ARunThatResumesHasTheBitsOfOneThatDidNotStop) {
  const Arguments common{kGpu, "component.accelerator_host.params.deterministic=true", placement()};
  const auto expected = losses_with("whole", common);
  Arguments half = common, rest = common;
  half.emplace_back("max_steps=20");
  run_to_end("half", half);
  rest.insert(rest.end(), {"max_steps=40", "component.checkpoint_writer.params.resume=" +
                                               (directory_ / "half/checkpoints/last").string()});
  run_to_end("rest", rest);
  std::vector<double> values;
  for (const testing::TrainedStep& step : steps("rest")) values.push_back(std::stod(step.loss));
  EXPECT_EQ(values, std::vector<double>(expected.begin() + 20, expected.end()));
}

TEST_F(GpuTest, ALossThatIsNotFiniteEndsTheRunAndNamesItsStep) {
  const std::string said = run_to_end(
      "gpu", {"max_steps=40", "placement=composed", kGpu, "component.optimizer.params={rule=\"sgd\",lr=1e30}"}, 1);
  EXPECT_THAT(said, ::testing::ContainsRegex("the loss is (-?inf|nan) in step [23], batch"));
}

TEST_F(GpuTest, TheMeasurementsOfTheGpuAreLogged) {
  losses_with("gpu", {"placement=composed", kGpu, "component.accelerator_host.params.log_device_stats=true"});
  for (const char* name : {"memory_bytes", "peak_memory_bytes", "utilisation_percent", "temperature_celsius",
                           "power_watts", "device_memory_bytes"}) {
    EXPECT_THAT(logged("gpu", name), Not(IsEmpty())) << name;
  }
}

TEST_F(GpuTest, RecordedStepsHaveTheBitsOfSingleOperations) {
  const Arguments common{"placement=composed", "component.accelerator_host.params.deterministic=true",
                         "component.accelerator_host.params.model={plugin=\"mlp\",hidden=[64,64]}",
                         "component.accelerator_host.params.clip_norm=1.0"};
  Arguments single = common, recorded = common;
  single.emplace_back(kGpu);
  recorded.emplace_back("component.accelerator_host.params.accelerator={plugin=\"cuda\",cuda_graphs=true}");
  const auto expected = losses_with("single", single);
  EXPECT_EQ(losses_with("recorded", recorded), expected);
}

TEST_F(GpuTest, DropoutDrawsTheSameNumbersInRecordedSteps) {
  const std::string gpt =
      "[component.data_loader.params]\ndataset = { plugin = \"text\", path = \"" TRAINYARD_SOURCES
      "/LICENSE\", context = 32 }\nbatch_size = 8\n"
      "[component.accelerator_host.params]\nmodel = { plugin = \"gpt\", layers = 2, heads = 2, width = 32, "
      "dropout = 0.2 }\ndeterministic = true\nlog_every_steps = 1\n";
  const auto losses_of = [&](const std::string& directory, const std::string& accelerator) {
    const std::string path =
        file("include = [\"" TRAINYARD_SOURCES "/launch/files/standard.toml\"]\n[run]\nmax_steps = 40\n" + gpt +
                 "accelerator = " + accelerator + "\n[component.logger.params]\nconsole = \"off\"\n",
             directory + ".toml");
    const auto training = launch(path, {"run.directory=" + directory, "run.validate_every_epochs=0"});
    EXPECT_EQ(training->wait(), 0) << training->all();
    EXPECT_THAT(training->all(), Not(::testing::HasSubstr("cannot be recorded")));
    return losses(directory, kSteps);
  };
  const auto expected = losses_of("single", "{ plugin = \"cuda\" }");
  ASSERT_EQ(expected.size(), kSteps);
  EXPECT_EQ(losses_of("recorded", "{ plugin = \"cuda\", cuda_graphs = true }"), expected);
}

/// What each precision trains to, compared with double precision on the processor.
class GpuPrecisionTest : public GpuTest, public ::testing::WithParamInterface<std::pair<const char*, double>> {};

TEST_P(GpuPrecisionTest, Trains) {
  const auto [precision, tolerance] = GetParam();
  const auto expected = losses_with("cpu", {"placement=composed", "precision=64-true"});
  const auto gpu = losses_with("gpu", {"placement=composed", kGpu, std::string("precision=") + precision});
  for (std::size_t i = 0; i < kSteps; ++i) EXPECT_NEAR(gpu[i], expected[i], tolerance * (1 + expected[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(All, GpuPrecisionTest,
                         ::testing::Values(std::pair{"64-true", 1e-9}, std::pair{"32-true", 1e-4},
                                           std::pair{"bf16-mixed", 0.05}, std::pair{"16-mixed", 0.02},
                                           std::pair{"bf16-true", 0.2}, std::pair{"16-true", 0.05}),
                         [](const auto& info) {
                           std::string name = info.param.first;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace trainyard
