// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/checkpoint_order.h"

#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "components/accelerator_host/host_fixture.h"
#include "messages/message_type.h"

namespace trainyard::testing {
namespace {

TEST_F(AcceleratorHostTest, GradientsWaitUntilTheSnapshotIsTaken) {
  start_ready();
  send("/orders", Order{.id = 1, .kind = OrderKind::kCheckpoint, .reason = "interval"});
  send("/orders", train(2, 1));
  const auto asked = rig_.received<Snapshot>("snapshot");
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0]->reason, "interval");
  ASSERT_FALSE(asked[0]->states.empty());
  EXPECT_EQ(asked[0]->states[0].owner, "random_numbers");
  EXPECT_GT(asked[0]->states[0].tensors.at(0).data.bytes(), 1000u);
  EXPECT_EQ(done(), 1u) << "the order is carried out when the snapshot is asked for";
  send("batches", batch(2, 0));
  EXPECT_EQ(gradients(), 0u);
  EXPECT_NE(view_of(arena_.blocks[1].data).abs().sum().item<float>(), 0) << "computing goes on meanwhile";
  send("snapshot_taken", SnapshotTaken{.order = 1});
  EXPECT_EQ(gradients(), 1u);
}

TEST_F(AcceleratorHostTest, TheLossScaleGoesIntoTheSnapshotAndComesBack) {
  start(R"(, "precision": "16-mixed")");
  send("parameters", Parameters{.step = 0});
  send("/restored_states",
       RestoredStates{.path = "c", .states = {{.owner = "loss_scale", .values = R"({"loss_scale": 128})"}}});
  EXPECT_EQ(rig_.received<StatesTaken>("/states_taken").size(), 1u);
  send("/run_state", RunState{.resumed = true});
  send("/orders", Order{.id = 1, .kind = OrderKind::kCheckpoint, .reason = "interval"});
  const RestoredStates saved{.path = "c", .states = rig_.received<Snapshot>("snapshot").at(0)->states};
  EXPECT_EQ(StateReader(saved, "loss_scale", 0).number("loss_scale"), 128);
}

TEST_F(AcceleratorHostTest, TheStateOfTheManagerGoesIntoTheSnapshotWithItsOrder) {
  start_ready();
  send("/orders",
       Order{.id = 1, .kind = OrderKind::kCheckpoint, .states = {{.owner = "early_stopping", .values = "{}"}}});
  EXPECT_EQ(rig_.received<Snapshot>("snapshot").at(0)->states.back().owner, "early_stopping");
}

TEST_F(AcceleratorHostTest, ASnapshotWithManyTensorsFitsIntoAMessage) {
  SavedState many{.owner = "many", .values = "", .tensors = {}};
  for (int i = 0; i < 200; ++i) {
    many.tensors.push_back({std::to_string(i), Tensor::empty(DType::kInt32, {1})});
    many.tensors.back().data.as<int>()[0] = i;
  }
  start_ready();
  send("/orders", Order{.id = 1, .kind = OrderKind::kCheckpoint, .states = {many}});
  std::string body;
  std::vector<Buffer> payloads;
  encode(*rig_.received<Snapshot>("snapshot").at(0), body, payloads);
  Snapshot arrived;
  decode(arrived, std::as_bytes(std::span(body)), payloads);
  const RestoredStates saved{.path = "c", .states = arrived.states};
  const StateReader reader(saved, "many", 0);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(reader.tensor(std::to_string(i)).as<int>()[0], i);
}

TEST_F(AcceleratorHostTest, AResumedRunCountsOn) {
  RunState state{.resumed = true, .step = 40, .epoch = 2, .samples = 1000, .cursor = {2, 7}};
  start();
  send("parameters", Parameters{.step = 0});
  send("/run_state", state);
  send("/orders", Order{.id = 1, .kind = OrderKind::kCheckpoint});
  const auto snapshot = rig_.received<Snapshot>("snapshot").at(0);
  EXPECT_EQ(snapshot->step, 40u);
  EXPECT_EQ(snapshot->samples, 1000u);
  EXPECT_EQ(snapshot->cursor.samples, 7u);
  send("snapshot_taken", SnapshotTaken{});
  send("/orders", train(2, 1));
  send("batches", batch(2, 7));
  EXPECT_EQ(rig_.received<Gradients>("gradients").at(0)->step, 41u);
}

TEST_F(AcceleratorHostTest, TheRandomStateOfACheckpointIsRestored) {
  start_ready();
  send("/orders", Order{.id = 1, .kind = OrderKind::kCheckpoint});
  const std::vector<SavedState> states = rig_.received<Snapshot>("snapshot").at(0)->states;
  const at::Tensor drawn = at::rand({4});
  Rig other;
  other.add<AcceleratorHost>("accelerator_host", std::string("{") + kMlp + "}");
  other.start();
  DatasetInfo data;
  data.fields = {{"input", 7, {6}}, {"target", 4, {}}};
  data.classes = 3;
  other.send("dataset", data);
  other.send("optimizer_state", OptimizerState{});
  other.send("parameters", Parameters{.step = 0});
  other.send("/restored_states", RestoredStates{.path = "checkpoint", .ranks = 1, .states = states});
  other.send("/run_state", RunState{.resumed = true});
  other.run_until_idle();
  EXPECT_TRUE(at::rand({4}).equal(drawn));
}

TEST_F(AcceleratorHostTest, GradientsWaitForEverySnapshotThatIsPending) {
  start_ready();
  for (std::uint64_t id : {1, 2}) send("/orders", Order{.id = id, .kind = OrderKind::kCheckpoint});
  EXPECT_EQ(rig_.received<Snapshot>("snapshot").size(), 2u);
  send("/orders", train(3, 1));
  send("batches", batch(3, 0));
  send("snapshot_taken", SnapshotTaken{.order = 1});
  EXPECT_EQ(gradients(), 0u);
  send("snapshot_taken", SnapshotTaken{.order = 2});
  EXPECT_EQ(gradients(), 1u);
}

}  // namespace
}  // namespace trainyard::testing
