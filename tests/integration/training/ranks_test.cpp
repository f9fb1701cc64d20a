// SPDX-License-Identifier: Apache-2.0
// Tests several ranks on one machine: their placement, their end, and that the placement does not change the results.

#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::Command;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::TrainingTest;

constexpr std::size_t kEnough = 50;  ///< The number of steps that shows that the ranks are at work.

class RanksTest : public TrainingTest {
 protected:
  /// Returns the losses of 40 steps with these arguments.
  std::vector<std::string> losses_with(const std::string& directory, std::vector<std::string> arguments) {
    arguments.push_back("max_steps=40");
    run_to_end(directory, std::move(arguments));
    return losses(directory, 40);
  }

  static bool has_plugin(const std::string& name) {
    return std::filesystem::exists(std::filesystem::path(TRAINYARD_PROGRAM).parent_path().parent_path() / "plugins" /
                                   (name + ".so"));
  }

  static constexpr const char* kShortTimeout = "component.accelerator_host.params.collective_timeout_s=3";
};

TEST_F(RanksTest, LossesAreTheSameBitForBitWhereverTheRanksAre) {
  const auto composed = losses_with("composed", {"devices=3", "strategy=ddp", "placement=composed"});
  ASSERT_EQ(composed.size(), 40u);
  EXPECT_EQ(losses_with("ranks", {"devices=3", "strategy=ddp", "placement=ranks"}), composed);
  EXPECT_EQ(losses_with("processes", {"devices=3", "strategy=ddp", "placement=processes"}), composed);
}

/// This test uses two ranks, because the sum of two numbers, unlike that of more numbers, does not depend on the order
/// of the additions, which differs between collectives.
TEST_F(RanksTest, MpiIsLaunchedLikeEveryOtherCollectiveAndLeavesNothing) {
  if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "mpirun is not installed";
  if (!has_plugin("collectives/mpi")) GTEST_SKIP() << "the collective mpi is not built";
  const auto expected = losses_with("shared", {"devices=2", "strategy=ddp"});
  EXPECT_EQ(losses_with("mpi", {"devices=2", "strategy=ddp", "collective=mpi"}), expected);
  EXPECT_TRUE(run_directories().empty());
  const std::string composed =
      run_to_end("composed", {"devices=2", "strategy=ddp", "collective=mpi", "placement=composed"}, 1);
  EXPECT_THAT(composed, HasSubstr("ranks 0 and 1 share a process, and MPI needs one for each rank"));
}

TEST_F(RanksTest, OneOfSeveralLaunchesByMpirunIsOneRankOfTheRunAndNeedsTheKeyOfTheHosts) {
  const std::map<std::string, std::string> variables{{"OMPI_COMM_WORLD_SIZE", "2"},
                                                     {"OMPI_COMM_WORLD_RANK", "0"},
                                                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                                     {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                                     {"TRAINYARD_KEY_FILE", directory_ / "no_key"},
                                                     {"OMPI_MCA_orte_hnp_uri", "1.0;tcp://127.0.0.1:1"},
                                                     {"OMPI_MCA_orte_local_daemon_uri", "1.0;tcp://127.0.0.1:1"}};
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  const auto training = train("by_mpirun", {"devices=2", "strategy=ddp"});
  for (const auto& [name, value] : variables) ::unsetenv(name.c_str());
  EXPECT_EQ(training->wait(), 3);
  EXPECT_THAT(training->all(),
              HasSubstr("the environment 'open_mpi' says that this is one of several launches of the same run, one for "
                        "each rank: host 0 of 1, process 0 of 2 on this host, because "));
  EXPECT_THAT(training->all(), HasSubstr("a run on several hosts needs a key"));
}

/// Runs every strategy in one process and in several processes. The tests in tests/numerics check the results of
/// strategies.
class EveryStrategyTest : public RanksTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryStrategyTest, TrainsAndSavesWhereverItsRanksAre) {
  const std::string strategy = std::string("strategy=") + GetParam();
  std::vector<std::string> first;
  for (const char* placement : {"composed", "processes"}) {
    if (strategy == "strategy=dp" && placement == std::string("processes")) continue;
    const std::string directory = std::string("in_") + placement;
    run_to_end(directory, {"devices=4", strategy, "max_steps=30", std::string("placement=") + placement,
                           "component.accelerator_host.params.model={plugin=\"mlp\",hidden=[16,16,16]}"});
    EXPECT_TRUE(std::filesystem::exists(directory_ / directory / "checkpoints/step-00000030"));
    const std::vector<std::string> now = losses(directory, 30);
    ASSERT_EQ(now.size(), 30u);
    EXPECT_NE(now.back(), now.front());
    const std::uint64_t batches = strategy == "strategy=pipeline" ? 1 : 4;  // Stages of one model share their batches.
    EXPECT_EQ(steps(directory).back().samples, 30 * batches * 16);
    if (first.empty()) first = now;
    EXPECT_EQ(now, first);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategyTest,
                         ::testing::Values("ddp", "dp", "zero1", "zero2", "fsdp", "local_sgd", "diloco", "horovod",
                                           "hierarchical", "parameter_server", "pipeline"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(RanksTest, ARankThatIsKilledIsNamedByEveryOther) {
  const auto training = train("killed", {"devices=4", "strategy=ddp", "placement=ranks", kShortTimeout});
  ASSERT_TRUE(eventually([&] { return steps("killed").size() >= kEnough; })) << training->all();
  const pid_t pid = pid_of("rank2/accelerator_host");
  ASSERT_GT(pid, 1);
  ::kill(pid, SIGKILL);
  EXPECT_EQ(training->wait(), 1) << training->all();
  EXPECT_THAT(training->all(), HasSubstr("'rank2'"));
  for (const char* other : {"rank0", "rank1", "rank3"}) {
    EXPECT_THAT(training->all(), ContainsRegex(std::string(other) + "/accelerator_host.*failed.*rank 2"));
  }
  EXPECT_TRUE(run_directories().empty());
}

TEST_F(RanksTest, ARankThatIsStoppedIsNamedByEveryOtherWithinTheTimeout) {
  const auto training =
      train("stopped", {"devices=4", "strategy=ddp", "placement=ranks", "run.stop_timeout_s=5", kShortTimeout});
  ASSERT_TRUE(eventually([&] { return steps("stopped").size() >= kEnough; })) << training->all();
  const pid_t pid = pid_of("rank1/accelerator_host");
  ASSERT_GT(pid, 1);
  ::kill(pid, SIGSTOP);
  EXPECT_EQ(training->wait(), 1) << training->all();
  for (const char* other : {"rank0", "rank2", "rank3"}) {
    EXPECT_THAT(training->all(), ContainsRegex(std::string(other) + "/accelerator_host.*failed.*rank 1"));
  }
  EXPECT_FALSE(alive(pid));
}

TEST_F(RanksTest, AStopOfManyRanksLosesNothing) {
  const auto training = train("interrupted", {"devices=2", "strategy=ddp"});
  ASSERT_TRUE(eventually([&] { return steps("interrupted").size() >= kEnough; })) << training->all();
  interrupt(*training);
  EXPECT_THAT(training->all(), HasSubstr("run finished"));
}

/// With 10,003 samples and 3 ranks, the last batch is short on some ranks and missing on one rank.
TEST_F(RanksTest, AnEpochOfUnevenRanksUsesEverySampleOnce) {
  run_to_end(
      "uneven",
      {"devices=3", "strategy=ddp", "max_epochs=1", "max_steps=-1", "component.data_loader.params.drop_last=false",
       "component.data_loader.params.dataset={plugin=\"synthetic\",features=8,classes=3,samples=1009}"});
  const std::string metrics = read("uneven/metrics.jsonl");
  EXPECT_THAT(metrics, HasSubstr("\"samples\":1009"));
}

TEST_F(RanksTest, ComponentsOfAllRanksExchangeDataAmongThemselves) {
  const std::string said =
      run_to_end("census", {"devices=3", "max_steps=5"}, 0, "[component.census]\nplugin = \"census\"\n");
  for (const char* rank : {"rank0", "rank1", "rank2"}) {
    EXPECT_THAT(said, HasSubstr(std::string(rank) + "/census] census: rank0/census, rank1/census, rank2/census"));
  }
}

/// Tests that the reduction of the first bucket of gradients begins before the backward pass ends.
TEST_F(RanksTest, TheTimelineShowsThatBucketsAreReducedWhileBackwardRuns) {
  const auto training =
      train("timeline", {"devices=2", "strategy={plugin=\"ddp\",bucket_mb=0.01}", "max_steps=30",
                         "component.accelerator_host.params.timeline=true",
                         "component.accelerator_host.params.model={plugin=\"mlp\",hidden=[64,64,64,64]}"});
  ASSERT_EQ(training->wait(), 0) << training->all();
  const json events = json::parse(read("timeline/timeline.rank0.json"));
  std::size_t overlapping = 0, backward = 0;
  for (const json& pass : events) {
    if (pass["name"] != "backward") continue;
    ++backward;
    const double begin = pass["ts"], end = begin + pass["dur"].get<double>();
    overlapping += static_cast<std::size_t>(std::ranges::count_if(events, [&](const json& event) {
                     return event["name"] == "reduce" && event["ts"] > begin && event["ts"] < end;
                   })) > 0;
  }
  EXPECT_EQ(backward, 30u);
  EXPECT_EQ(overlapping, backward);
}

}  // namespace
}  // namespace trainyard
