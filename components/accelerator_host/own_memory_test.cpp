// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "components/accelerator_host/host_fixture.h"

// Tests devices with separate memory. The accelerator `simulated` imitates such a device on the processor.
namespace trainyard::testing {
namespace {

constexpr const char* kOwnMemory = R"(, "accelerator": {"plugin": "simulated"})";

TEST_F(AcceleratorHostTest, GradientsAndParametersCrossBetweenDeviceAndHostEveryStep) {
  start_ready(kOwnMemory);
  const Oracle first = oracle();
  send("/orders", train(1, 2));
  send("batches", batch(1, 0));
  first.loss(batch(1, 0)).backward();
  expect_gradients(first);
  // The simulated update. An optimizer in another process can access only the blocks that ArenaInfo announces.
  view_of(arena_.blocks[0].data).sub_(view_of(arena_.blocks[1].data));
  const Oracle second = oracle();
  answer(1);
  send("batches", batch(1, 1));
  second.loss(batch(1, 1)).backward();
  expect_gradients(second);
  answer(2);
  EXPECT_EQ(done(), 1u);
}

TEST_F(AcceleratorHostTest, ARestoredCheckpointReachesTheDeviceBeforeTheFirstStep) {
  start(kOwnMemory);
  view_of(arena_.blocks[0].data).mul_(0.5);
  const Oracle restored = oracle();
  send("parameters", Parameters{.step = 0});
  send("/run_state", RunState{});
  send("/orders", train(1, 1));
  send("batches", batch(1, 0));
  restored.loss(batch(1, 0)).backward();
  expect_gradients(restored);
}

TEST_F(AcceleratorHostTest, AStepThatIsGivenUpLeavesNoGradientsOnTheDevice) {
  start_ready(kOwnMemory);
  send("/orders", train(1, 2, 2));
  send("batches", batch(1, 0));
  send("/orders", Order{.id = 2, .kind = OrderKind::kStop, .reason = "test"});
  const Oracle expected = oracle();
  send("/orders", train(3, 1));
  send("batches", batch(3, 0));
  expected.loss(batch(3, 0)).backward();
  expect_gradients(expected);
}

TEST_F(AcceleratorHostTest, ABatchThatComesWhileTheOptimizerWorksIsMovedThenAndUsedOnce) {
  start_ready(kOwnMemory);
  send("/orders", train(1, 3));
  for (int i = 0; i < 3; ++i) send("batches", batch(1, i));
  EXPECT_EQ(gradients(), 1u);
  for (int step = 1; step < 3; ++step) {
    const Oracle expected = oracle();
    answer(static_cast<std::uint64_t>(step));
    expected.loss(batch(1, static_cast<std::uint64_t>(step))).backward();
    expect_gradients(expected);
  }
}

TEST_F(AcceleratorHostTest, TheFirstOrderWaitsUntilTheStateOfTheOptimizerIsKnown) {
  start(kOwnMemory);
  set_connections("optimizer_state", 1);
  send("parameters", Parameters{.step = 0});
  send("/run_state", RunState{});
  send("optimizer_state", OptimizerState{.rank = 1});
  EXPECT_TRUE(rig_.received<ModelInfo>("/model").empty()) << "that was the optimizer of another rank";
  send("optimizer_state", OptimizerState{.rank = 0});
  EXPECT_EQ(rig_.received<ModelInfo>("/model").size(), 1u);
}

TEST_F(AcceleratorHostTest, AnOptimizerCannotWorkOnADeviceThatIsNotShared) {
  start(kOwnMemory);
  EXPECT_FALSE(arena_.shared.has_value());
  try {
    send("optimizer_state", OptimizerState{.rank = 0, .on_device = true});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 0 works on a device that was not shared with it"));
  }
}

TEST_F(AcceleratorHostTest, NamesTheDeviceButAnnouncesHostMemory) {
  start_ready(kOwnMemory);
  EXPECT_EQ(arena_.device, "cpu");
  EXPECT_EQ(rig_.received<ModelInfo>("/model").at(0)->device, "custom:0 (simulated)");
}

TEST_F(AcceleratorHostTest, AMemoryLimitIsHeldAgainstArenaAndBatchBeforeTheFirstStep) {
  try {
    start(R"(, "accelerator": {"plugin": "simulated", "memory_limit_bytes": 639})");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(
                                  "640 bytes are not allowed, rule memory_limit_bytes: 639; the arena of model 'mlp' "
                                  "has 640 bytes, a batch of 0 samples has 0"));
  }
}

}  // namespace
}  // namespace trainyard::testing
