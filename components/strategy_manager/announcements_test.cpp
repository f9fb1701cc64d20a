// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/announcements.h"

#include <gtest/gtest.h>

#include "components/strategy_manager/data_facts.h"
#include "core/component/component.h"
#include "core/testing/error_of.h"
#include "core/testing/rig.h"

namespace trainyard::manager {
namespace {

/// A component that passes the messages that it receives to its Announcements.
class Listener final : public Component {
 public:
  explicit Listener(ComponentContext& context) : Component(context) {}

  Input<DatasetInfo> dataset{*this, "dataset", "data", [this](const auto& info) { announced.add(*info); }};
  Input<ModelInfo> model{*this, "model", "hosts", [this](const auto& info) { announced.add(*info); }};
  Input<RunState> run_state{
      *this, "run_state", "start", [this](const auto& state) { announced.add(*state); }, {.optional = true}};
  Input<CheckpointDone> checkpoints{*this, "checkpoints", "saved", [](const auto&) {}, {.optional = true}};
  Announcements announced{
      {.dataset = dataset, .run_state = run_state, .checkpoints = checkpoints}, 2, [this] { ++begun; }};
  int begun = 0;
};

struct AnnouncementsTest : ::testing::Test {
  AnnouncementsTest() { rig.start(); }

  template <class Message>
  void send(const std::string& input, const Message& message) {
    rig.send(input, message);
    rig.run_until_idle();
  }

  trainyard::testing::Rig rig;
  Listener& listener = rig.add<Listener>("listener");
  Announcements& announced = listener.announced;
};

TEST_F(AnnouncementsTest, TheRunBeginsOnceWhenEverythingIsKnown) {
  EXPECT_EQ(announced.missing(), "0 of 1 data sets, 0 of 2 accelerator hosts, 0 of 1 run_state");
  send("model", ModelInfo{.rank = 1});
  send("run_state", RunState{.step = 13});
  send("dataset", DatasetInfo{.splits = {{"train", 100, 10}}});
  EXPECT_EQ(listener.begun, 0);
  EXPECT_EQ(announced.missing(), "1 of 2 accelerator hosts");
  send("model", ModelInfo{.rank = 0});
  EXPECT_EQ(listener.begun, 1);
  EXPECT_EQ(announced.missing(), "");
  EXPECT_EQ(announced.checked_start({}, [](const std::string&) {}).step, 13u);
}

TEST_F(AnnouncementsTest, RanksWithOtherDataAreRefusedUnlessTheUserAllowsThem) {
  listener.dataset.set_connections(2);
  send("run_state", RunState{});
  send("dataset", DatasetInfo{.dataset = "csv", .splits = {{"train", 100, 10}}});
  send("dataset", DatasetInfo{.dataset = "csv", .splits = {{"train", 90, 9}}});
  for (const std::uint32_t rank : {0u, 1u}) send("model", ModelInfo{.rank = rank});
  ASSERT_EQ(listener.begun, 1);
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& text) { warnings.push_back(text); };
  EXPECT_EQ(trainyard::testing::error_of([&] { announced.checked_start({}, warn); }).second,
            "the ranks do not have the same data: the number of training samples is 100 on one rank and 90 on another; "
            "allowed: the same data, or may_differ = [\"dataset\"] in [run], which accepts the difference");
  announced.checked_start({.may_differ = {Difference::kDataset}}, warn);
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_EQ(announced.facts().train.batches, 9u) << "that of the smallest";
}

TEST_F(AnnouncementsTest, ARunWithoutACheckpointWriterWaitsForNoRunState) {
  listener.run_state.set_connections(0);
  listener.checkpoints.set_connections(0);
  send("dataset", DatasetInfo{.splits = {{"train", 100, 10}}});
  for (const std::uint32_t rank : {0u, 1u}) send("model", ModelInfo{.rank = rank});
  EXPECT_EQ(listener.begun, 1);
  EXPECT_FALSE(announced.facts().writes_checkpoints);
  EXPECT_FALSE(announced.checked_start({}, [](const std::string&) {}).resumed);
}

TEST_F(AnnouncementsTest, TheRankWithTheFewestBatchesDecidesAndTheFirstLoaderDescribesTheData) {
  listener.dataset.set_connections(2);
  send("dataset", DatasetInfo{.dataset = "first", .splits = {{"train", 100, 10}}});
  EXPECT_EQ(announced.missing(), "1 of 2 data sets, 0 of 2 accelerator hosts, 0 of 1 run_state");
  send("dataset", DatasetInfo{.dataset = "second", .splits = {{"train", 100, 8}}});
  const RunFacts facts = announced.facts();
  EXPECT_EQ(facts.ranks, 2u);
  EXPECT_EQ(facts.train.batches, 8u);
  EXPECT_TRUE(facts.writes_checkpoints);
  const auto first = data_state({.dataset = "first", .splits = {{"train", 100, 10}}});
  ASSERT_EQ(facts.data.size(), first.size());
  EXPECT_EQ(facts.data.front().values, first.front().values);
}

}  // namespace
}  // namespace trainyard::manager
