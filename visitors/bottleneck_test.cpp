// SPDX-License-Identifier: Apache-2.0
// Tests the search for the bottleneck on runs whose shares are made up.
#include "visitors/bottleneck.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trainyard::visitors {
namespace {

using Shares = std::vector<ComponentShares::Share>;

/// Builds runs with the components of one or several ranks.
class BottleneckTest : public ::testing::Test {
 protected:
  void add(const std::string& name, const std::string& plugin, double busy, Shares waiting,
           const std::string& thread = "") {
    ComponentShares shares{
        .component = name, .seconds = 1, .busy = busy, .messages_per_s = 1, .waiting = std::move(waiting)};
    run_.components.push_back({name, plugin, thread.empty() ? name : thread, std::move(shares)});
  }

  /// Adds the three components of a rank. The host waits during the time in which it is not busy.
  void add_rank(const std::string& prefix, double host, double optimizer, double loader_busy, double for_ranks = 0,
                const std::string& other = "") {
    const std::string hosts = prefix + "accelerator_host";
    const std::string thread = prefix + "main";
    Shares waiting{{prefix + "optimizer", "message", optimizer},
                   {prefix + "data_loader", "message", std::max(1 - host - optimizer - for_ranks, 0.0)}};
    if (for_ranks > 0) waiting.push_back({other + "accelerator_host", "rank", for_ranks});
    add(hosts, "accelerator_host", host, std::move(waiting), thread);
    add(prefix + "optimizer", "optimizer", optimizer, {{hosts, "message", 1 - optimizer}}, thread);
    add(prefix + "data_loader", "data_loader", loader_busy, {{hosts, "room", 1 - loader_busy}});
    run_.blocking_edges.emplace_back(prefix + "data_loader", hosts);
    run_.blocking_edges.emplace_back(prefix + "optimizer", hosts);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Bottleneck& bottleneck : find_bottlenecks(run_)) all.push_back(bottleneck.component);
    std::ranges::sort(all);
    return all;
  }

  using Names = std::vector<std::string>;
  ObservedRun run_;
};

TEST_F(BottleneckTest, NothingIsNamedWithoutAHost) {
  EXPECT_TRUE(names().empty());
  add("optimizer", "optimizer", 0.9, {});
  EXPECT_TRUE(names().empty());
}

TEST_F(BottleneckTest, NothingIsNamedWhileTheRunStandsStill) {
  add_rank("", 0, 0, 0);
  run_.components[0].shares.waiting.clear();
  EXPECT_TRUE(names().empty());
}

TEST_F(BottleneckTest, ABusyHostIsItself) {
  add_rank("", 0.9, 0.1, 0.2);
  EXPECT_EQ(names(), Names{"accelerator_host"});
}

TEST_F(BottleneckTest, AHostThatWaitsForBatchesWaitsForABusyLoader) {
  add_rank("", 0.1, 0.1, 1.0);
  EXPECT_EQ(names(), Names{"data_loader"});
}

TEST_F(BottleneckTest, AHostThatWaitsForParametersWaitsForTheOptimizer) {
  add_rank("", 0.1, 0.85, 0.1);
  EXPECT_EQ(names(), Names{"optimizer"});
}

TEST_F(BottleneckTest, TwoThatWorkOneAfterAnotherAreBothNamed) {
  add_rank("", 0.48, 0.5, 0.1);
  EXPECT_EQ(names(), (Names{"accelerator_host", "optimizer"}));
}

TEST_F(BottleneckTest, ALoaderWithoutReserveIsNamedBesideTheOptimizer) {
  add_rank("", 0.05, 0.9, 0.95);
  EXPECT_EQ(names(), (Names{"data_loader", "optimizer"}));
}

TEST_F(BottleneckTest, AnIdleLoaderIsNotBlamed) {
  add("accelerator_host", "accelerator_host", 0.3, {{"data_loader", "message", 0.7}});
  add("data_loader", "data_loader", 0.05, {});
  EXPECT_EQ(names(), Names{"accelerator_host"});
}

TEST_F(BottleneckTest, WhoeverIsHardlyBusyIsNotBlamedForMessagesOnTheirWay) {
  add("accelerator_host", "accelerator_host", 0.57, {{"data_loader", "message", 0.43}});
  add("data_loader", "data_loader", 0.02, {{"accelerator_host", "room", 0.98}});
  EXPECT_EQ(names(), Names{"accelerator_host"});
}

TEST_F(BottleneckTest, WhoeverALoaderWaitsForIsBlamedInItsPlace) {
  add("accelerator_host", "accelerator_host", 0.1, {{"data_loader", "message", 0.9}});
  add("data_loader", "data_loader", 0.05, {{"tokenizer", "message", 0.85}, {"accelerator_host", "room", 0.1}});
  add("tokenizer", "tokenizer", 0.99, {});
  EXPECT_EQ(names(), Names{"tokenizer"});
}

TEST_F(BottleneckTest, ATurnOnTheThreadIsUpToTheBusiestOtherComponentThere) {
  add("accelerator_host", "accelerator_host", 0.2, {{"thread", "thread", 0.8}}, "main");
  add("probe", "probe", 0.75, {}, "main");
  add("logger", "logger", 0.01, {}, "main");
  EXPECT_EQ(names(), Names{"probe"});
}

TEST_F(BottleneckTest, TheRankThatWaitsLeastForOthersHoldsThemUp) {
  add_rank("rank0/", 0.1, 0.02, 0.1, 0.85, "rank1/");
  add_rank("rank1/", 0.95, 0.02, 0.1, 0.02, "rank0/");
  EXPECT_EQ(names(), Names{"rank1/accelerator_host"});
}

TEST_F(BottleneckTest, TheLoaderOfTheRankThatWaitsLeastHoldsUpAll) {
  add_rank("rank0/", 0.1, 0.02, 0.1, 0.85, "rank1/");
  add_rank("rank1/", 0.1, 0.02, 1.0, 0.02, "rank0/");
  EXPECT_EQ(names(), Names{"rank1/data_loader"});
}

TEST_F(BottleneckTest, RanksThatAreEquallySlowAreAllNamed) {
  add_rank("rank0/", 0.05, 0.85, 0.1, 0.03, "rank1/");
  add_rank("rank1/", 0.05, 0.87, 0.1, 0.02, "rank0/");
  EXPECT_EQ(names(), (Names{"rank0/optimizer", "rank1/optimizer"}));
}

TEST_F(BottleneckTest, SharesAreOfTheTimeOfTheRun) {
  add_rank("", 0.2, 0.1, 1.0);
  const std::vector<Bottleneck> found = find_bottlenecks(run_);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().component, "data_loader");
  EXPECT_LE(found.front().share, 1.0);
  EXPECT_GE(found.front().share, 0.7);
}

}  // namespace
}  // namespace trainyard::visitors
