// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/loss_scaler.h"

#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard {
namespace {

/// Restores the scaler from a checkpoint whose state is the JSON object `values`.
void restore(LossScaler& scaler, const std::string& values) {
  const SavedState state{.owner = LossScaler::kState, .values = values, .tensors = {}};
  scaler.restore_state(StateReader({.path = "checkpoint", .states = {state}}, LossScaler::kState, 0));
}

TEST(LossScalerTest, AnOverflowHalvesTheScaleAndCountsAsSkipped) {
  LossScaler scaler({.initial = 1024, .growth_steps = 3});
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 1024);
  scaler.update(false);
  EXPECT_EQ(scaler.scale(), 512);
  EXPECT_EQ(scaler.skipped(), 1u);
}

TEST(LossScalerTest, GoodStepsInARowDoubleIt) {
  LossScaler scaler({.initial = 8, .growth_steps = 3});
  for (const bool finite : {true, true, false, true, true}) scaler.update(finite);
  EXPECT_EQ(scaler.scale(), 4) << "the overflow ended the row";
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 8);
  for (int i = 0; i < 3; ++i) scaler.update(true);
  EXPECT_EQ(scaler.scale(), 16);
}

TEST(LossScalerTest, GoesOnWhereACheckpointLeftIt) {
  LossScaler before({.initial = 64, .growth_steps = 2});
  for (const bool finite : {false, true}) before.update(finite);
  LossScaler after({.initial = 1e6, .growth_steps = 2});
  StateWriter writer(LossScaler::kState, 0);
  before.save_state(writer);
  after.restore_state(StateReader({.path = "checkpoint", .states = writer.take()}, LossScaler::kState, 3));
  EXPECT_EQ(after.scale(), 32);
  EXPECT_EQ(after.skipped(), 1u);
  after.update(true);
  EXPECT_EQ(after.scale(), 64) << "one good step was saved, too";
  restore(after, "{}");
  EXPECT_EQ(after.scale(), 64) << "an older checkpoint says nothing";
}

TEST(LossScalerTest, ACheckpointThatMakesNoSenseIsRefused) {
  LossScaler scaler({.initial = 64, .growth_steps = 2});
  EXPECT_THROW(restore(scaler, R"({"loss_scale": 0})"), Error);
  EXPECT_THROW(restore(scaler, R"({"loss_scale": "NaN"})"), Error);
  EXPECT_THROW(restore(scaler, R"({"skipped_steps": -1})"), Error);
  restore(scaler, R"({"of_another_host": -1})");
  EXPECT_EQ(scaler.scale(), 64);
}

TEST(LossScalerTest, GradientsThatNoScaleHelpsEndTheRun) {
  LossScaler scaler({.initial = LossScaler::kSmallest * 2, .growth_steps = 2});
  scaler.update(false);
  try {
    scaler.update(false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "the gradients are not finite even at a loss scale of 6.103515625e-05, after 2 skipped steps; the loss "
        "itself overflows or is not a number");
  }
}

}  // namespace
}  // namespace trainyard
