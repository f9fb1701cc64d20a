// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/strategy_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/strategy_manager/fake_host.h"
#include "core/testing/rig.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Simulates the data loader, the accelerator host and the checkpoint writer. An epoch has ten training batches, and a
/// validation two batches.
class StrategyManagerTest : public ::testing::Test {
 protected:
  StrategyManager& start(const std::string& parameters, bool with_writer = true) {
    auto& manager = rig_.add<StrategyManager>("strategy_manager", parameters);
    rig_.start();
    if (!with_writer) {
      for (InputBase* input : manager.inputs()) {
        if (input->options().optional) input->set_connections(0);
      }
    }
    rig_.send("dataset", DatasetInfo{.splits = {{"train", 100, 10}, {"validate", 20, 2}}});
    rig_.send("/model", ModelInfo{.model = "tiny", .device = "cpu"});
    return manager;
  }

  void begin(const RunState& state = {}) {
    step_ = state.step;
    rig_.send("/run_state", state);
    rig_.run_until_idle();
  }

  /// Answers every order that arrives, until the run is over.
  void play() {
    rig_.run_until([&] {
      answer_all();
      return !rig_.finished().empty();
    });
  }

  void answer_all() {
    const auto orders = rig_.received<Order>("/orders");
    while (answered_ < orders.size()) {
      const Order& order = *orders[answered_++];
      if (order.kind == OrderKind::kTrain) step_ += order.batches;
      OrderDone done{.order = order.id, .kind = order.kind, .step = step_, .stopped = order.kind == OrderKind::kStop};
      if (order.kind == OrderKind::kEvaluate) done.metrics = {{"loss", 1}};
      rig_.send("/order_done", done);
      if (order.kind == OrderKind::kCheckpoint)
        rig_.send("/checkpoints", CheckpointDone{order.id, step_, "", 0, write_error_});
    }
  }

  std::vector<std::string> orders() {
    std::vector<std::string> all;
    for (const auto& order : rig_.received<Order>("/orders")) all.push_back(manager::text_of(*order));
    return all;
  }

  static std::string call(StrategyManager& manager, const std::string& service, const std::string& json = "{}") {
    for (ServiceBase* one : manager.services()) {
      if (one->name() == service) return one->call(json);
    }
    return "no such service";
  }

  testing::Rig rig_;
  std::uint64_t step_ = 0;
  std::size_t answered_ = 0;
  std::string write_error_;
};

TEST_F(StrategyManagerTest, RunsAFitFromItsFirstOrderToItsEnd) {
  start(R"({"max_epochs": 2})");
  begin();
  play();
  EXPECT_THAT(orders(), ElementsAre("train e0 b0 n10", "evaluate validate n2 e0", "checkpoint best", "train e1 b0 n10",
                                    "evaluate validate n2 e1", "checkpoint final"));
  EXPECT_EQ(rig_.finished(), "max_epochs = 2 reached");
  rig_.stop();
}

TEST_F(StrategyManagerTest, WaitsUntilEveryoneIsReady) {
  start(R"({"max_epochs": 2})");
  rig_.run_until_idle();
  EXPECT_THAT(orders(), ElementsAre()) << "where the run begins is not known yet";
  begin();
  EXPECT_FALSE(orders().empty());
}

TEST_F(StrategyManagerTest, TheLoaderOfOneRankSpeaksForAll) {
  rig_.world().world_size = 2;
  start(R"({"max_epochs": 2})");
  begin();
  EXPECT_THAT(orders(), ElementsAre()) << "the host of rank 1 is not ready";
  rig_.send("/model", ModelInfo{.rank = 1});
  rig_.run_until_idle();
  EXPECT_EQ(orders().at(0), "train e0 b0 n10");
}

TEST_F(StrategyManagerTest, WaitsForEveryLoaderThatIsConnected) {
  rig_.world().world_size = 2;
  auto& manager = start(R"({"max_epochs": 2, "may_differ": ["dataset"]})");
  for (InputBase* input : manager.inputs()) {
    if (input->name() == "dataset") input->set_connections(2);
  }
  begin();
  EXPECT_THAT(orders(), ElementsAre());
  rig_.send("dataset", DatasetInfo{.splits = {{"train", 90, 9}, {"validate", 20, 2}}});
  rig_.send("/model", ModelInfo{.rank = 1});
  rig_.run_until_idle();
  EXPECT_EQ(orders().at(0), "train e0 b0 n9") << "the smallest shard counts";
}

TEST_F(StrategyManagerTest, MergesWhatRanksMeasure) {
  rig_.world().world_size = 2;
  start(R"({"max_epochs": 1})");
  rig_.send("/model", ModelInfo{.rank = 1});
  begin();
  const auto say = [&](std::uint32_t rank, std::uint64_t step, double loss) {
    RankMetrics metrics{
        .rank = rank, .weight = 1, .metrics = {.step = step, .stage = "train", .values = {{"loss", loss}}}};
    rig_.send("/rank_metrics", metrics);
    rig_.run_until_idle();
  };
  say(0, 1, 2);
  EXPECT_TRUE(rig_.received<Metrics>("/metrics").empty());
  say(1, 1, 4);
  ASSERT_EQ(rig_.received<Metrics>("/metrics").size(), 1u);
  EXPECT_EQ(rig_.received<Metrics>("/metrics")[0]->values.at(0).value, 3);
  say(0, 2, 2);  // Rank 1 does not report step 2, and the merger does not wait for it.
  answer_all();
  rig_.run_until_idle();
  EXPECT_EQ(rig_.received<Metrics>("/metrics").size(), 1u);
  rig_.stop();
  ASSERT_EQ(rig_.received<Metrics>("/metrics").size(), 2u) << "the run is over";
  EXPECT_EQ(rig_.received<Metrics>("/metrics")[1]->step, 2u);
}

TEST_F(StrategyManagerTest, ARankThatIsSilentIsPassedByItsAnswers) {
  rig_.world().world_size = 2;
  start(R"({"max_steps": 100, "limit_val_batches": 0, "steps_per_order": 1})");
  rig_.send("/model", ModelInfo{.rank = 1});
  begin();
  rig_.send("/rank_metrics", RankMetrics{.metrics = {.step = 1, .stage = "train", .values = {{"loss", 1}}}});
  for (std::uint64_t order = 1; order <= 4; ++order) {
    EXPECT_TRUE(rig_.received<Metrics>("/metrics").empty());
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      rig_.send("/order_done", OrderDone{.order = order, .rank = rank, .kind = OrderKind::kTrain, .step = order});
    }
    rig_.run_until_idle();
  }
  EXPECT_EQ(rig_.received<Metrics>("/metrics").size(), 1u);
}

TEST_F(StrategyManagerTest, WithoutACheckpointWriterItStartsAtOnceAndSavesNothing) {
  start(R"({"max_epochs": 1})", false);
  rig_.run_until_idle();
  play();
  EXPECT_THAT(orders(), ElementsAre("train e0 b0 n10", "evaluate validate n2 e0"));
}

TEST_F(StrategyManagerTest, GoesOnWhereACheckpointLeftTheRun) {
  start(R"({"max_epochs": 2, "limit_val_batches": 0})");
  begin({.resumed = true, .path = "step_14", .step = 14, .epoch = 1, .cursor = {1, 4}});
  play();
  EXPECT_THAT(orders(), ElementsAre("train e1 b4 n6", "checkpoint final"));
}

TEST_F(StrategyManagerTest, AStopEndsTheRunWithACheckpoint) {
  auto& manager = start(R"({"max_epochs": 1000, "limit_val_batches": 0, "steps_per_order": 3})");
  begin();
  answer_all();
  rig_.run_until_idle();
  EXPECT_THAT(call(manager, "stop"), HasSubstr("stopping after this step, with a checkpoint"));
  rig_.run_until_idle();
  EXPECT_EQ(orders().back(), "stop stopped by request");
  answered_ = orders().size() - 1;  // The host drops the orders before the stop without answering them.
  play();
  EXPECT_EQ(orders().back(), "checkpoint interrupted");
  EXPECT_EQ(rig_.finished(), "stopped by request after step 6");
  EXPECT_THAT(call(manager, "stop"), HasSubstr("over already"));
}

TEST_F(StrategyManagerTest, AStopBeforeTheBeginEndsTheRunAtOnce) {
  auto& manager = start(R"({"max_epochs": 1000})");
  rig_.run_until_idle();
  EXPECT_THAT(call(manager, "stop", R"({"reason": "wrong file"})"), HasSubstr("before the first step"));
  EXPECT_EQ(rig_.finished(), "stopped by request: wrong file");
  begin();
  EXPECT_THAT(orders(), ElementsAre());
}

TEST_F(StrategyManagerTest, TimeEndsTheRunWithAFinalCheckpoint) {
  start(R"({"max_time_s": 0.001, "limit_val_batches": 0})");
  begin();
  answer_all();
  rig_.run_until([&] { return orders().back() == "stop max_time_s = 0.001 reached"; });
  answered_ = orders().size() - 1;
  play();
  EXPECT_EQ(orders().back(), "checkpoint final");
  EXPECT_THAT(rig_.finished(), ::testing::StartsWith("max_time_s = 0.001 reached after step "));
}

TEST_F(StrategyManagerTest, PeopleCanAskForCheckpointsAndValidations) {
  auto& manager = start(R"({"max_epochs": 1, "steps_per_order": 2})");
  EXPECT_THROW(call(manager, "checkpoint"), Error);
  begin();
  EXPECT_THAT(call(manager, "checkpoint"), HasSubstr("a checkpoint follows"));
  EXPECT_THAT(call(manager, "validate"), HasSubstr("a validation follows"));
  play();
  EXPECT_EQ(orders()[2], "evaluate validate n2 e0");
  EXPECT_EQ(orders()[3], "checkpoint requested");
  EXPECT_THAT([&] { call(manager, "validate"); }, ThrowsMessage<Error>(HasSubstr("needs a run under way")));
}

TEST_F(StrategyManagerTest, ALostFinalCheckpointIsToldAtTheEnd) {
  write_error_ = "disk full";
  start(R"({"max_epochs": 1, "limit_val_batches": 0})");
  begin();
  play();
  EXPECT_EQ(rig_.finished(), "max_epochs = 1 reached, but the last checkpoint was not written: disk full");
}

TEST_F(StrategyManagerTest, AnAnswerToNoOrderIsReported) {
  start(R"({"max_epochs": 1})");
  begin();
  rig_.send("/order_done", OrderDone{.order = 77, .kind = OrderKind::kTrain});
  EXPECT_THAT([&] { rig_.run_until_idle(); },
              ThrowsMessage<Error>(HasSubstr("order 77 (train) was answered, but it is not open")));
}

TEST(StrategyManagerOptionsTest, ARunWithoutAnEndIsRefusedBeforeItStarts) {
  testing::Rig rig;
  rig.add<StrategyManager>("strategy_manager", "{}");
  EXPECT_THAT([&] { rig.start(); },
              ThrowsMessage<Error>(HasSubstr("component 'strategy_manager': the run has no end: give max_steps")));
}

TEST(StrategyManagerOptionsTest, AWrongSplitNamesTheComponent) {
  testing::Rig rig;
  rig.add<StrategyManager>("strategy_manager", R"({"mode": "test"})");
  rig.start();
  rig.send("dataset", DatasetInfo{.splits = {{"train", 100, 10}}});
  rig.send("/model", ModelInfo{});
  rig.send("/run_state", RunState{});
  EXPECT_THAT([&] { rig.run_until_idle(); },
              ThrowsMessage<Error>(HasSubstr("component 'strategy_manager': the dataset has no split 'test'")));
}

}  // namespace
}  // namespace trainyard
