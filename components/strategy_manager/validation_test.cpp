// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard::manager {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const RunFacts kFacts{.batches = {{"train", 10}, {"validate", 3}, {"empty", 0}}};

TEST(ValidationTest, GoesOverTheSplitsThatHaveBatches) {
  const Validation validation({.limit_val_batches = 5, .evaluate_splits = {"train", "empty", "validate"}}, kFacts, {});
  ASSERT_EQ(validation.splits().size(), 2u);
  EXPECT_EQ(validation.splits()[0].name, "train");
  EXPECT_EQ(validation.splits()[0].batches, 5u);
  EXPECT_EQ(validation.splits()[1].batches, 3u);
}

TEST(ValidationTest, TheSplitValidateIsWatchedWhereverItStands) {
  Validation validation({.evaluate_splits = {"train", "validate"}}, kFacts, {});
  validation.take("train", {{"loss", 0.1}}, true);
  EXPECT_FALSE(validation.improved());
  validation.take("validate", {{"loss", 2}}, true);
  EXPECT_TRUE(validation.improved());
  EXPECT_EQ(validation.stopping().best(), 2);
  validation.take("validate", {{"loss", 3}}, true);
  EXPECT_FALSE(validation.improved());
}

TEST(ValidationTest, EarlyStoppingGoesOnWithTheBestValueAndItsPatience) {
  const RunSettings settings{.early_stopping_patience = 3};
  Validation before(settings, kFacts, {});
  for (const double loss : {2.0, 1.0, 3.0, 1.5}) before.take("validate", {{"loss", loss}}, true);
  StateWriter writer(Validation::kState, 0);
  before.save_state(writer);
  // The last value is not the best one, and one more validation without improvement ends the run.
  Validation after(settings, kFacts, {{"loss", 1.5}});
  after.restore_state(StateReader({.path = "c", .states = writer.take()}, Validation::kState, 0));
  EXPECT_EQ(after.stopping().best(), 1.0);
  EXPECT_EQ(after.stopping().waited(), 2);
  after.take("validate", {{"loss", 1.2}}, true);
  EXPECT_TRUE(after.stopping().should_stop());
}

TEST(ValidationTest, AnotherMetricThanTheCheckpointsBeginsAnew) {
  Validation before({.early_stopping_patience = 3}, kFacts, {});
  before.take("validate", {{"loss", 1}}, true);
  StateWriter writer(Validation::kState, 0);
  before.save_state(writer);
  Validation after({.monitor = "accuracy", .early_stopping_patience = 3}, kFacts, {});
  after.restore_state(StateReader({.path = "c", .states = writer.take()}, Validation::kState, 0));
  EXPECT_FALSE(after.stopping().best().has_value());
}

TEST(ValidationTest, WithoutItTheFirstSplitIsWatched) {
  Validation validation({.evaluate_splits = {"train"}}, kFacts, {});
  validation.take("train", {{"loss", 0.1}}, true);
  EXPECT_TRUE(validation.improved());
  EXPECT_EQ(validation.metrics().at(0).name, "loss");
}

TEST(ValidationTest, ResultsThatAreNotJudgedAreKeptAllTheSame) {
  Validation validation({.early_stopping_patience = 1}, kFacts, {});
  validation.take("validate", {{"loss", 7}}, false);
  EXPECT_FALSE(validation.stopping().best().has_value());
  EXPECT_EQ(validation.metrics().at(0).value, 7);
}

TEST(ValidationTest, AMissingMetricMattersOnlyToEarlyStopping) {
  Validation calm({.monitor = "accuracy"}, kFacts, {});
  EXPECT_NO_THROW(calm.take("validate", {{"loss", 1}}, true));
  EXPECT_FALSE(calm.improved());
  Validation strict({.monitor = "accuracy", .early_stopping_patience = 1}, kFacts, {});
  EXPECT_THAT(
      [&] {
        strict.take("validate", {{"loss", 1}}, true);
      },
      ThrowsMessage<Error>(HasSubstr("early stopping watches 'accuracy', which split 'validate' does not have")));
}

TEST(ValidationTest, AUnknownSplitIsNamedExceptWhenAFitCanDoWithout) {
  EXPECT_THAT(
      [] {
        Validation({.mode = RunMode::kValidate}, {.batches = {{"train", 1}}}, {});
      },
      ThrowsMessage<Error>(HasSubstr("the dataset has no split 'validate'; known: train")));
  EXPECT_TRUE(Validation({.mode = RunMode::kFit}, {.batches = {{"train", 1}}}, {}).splits().empty());
  EXPECT_TRUE(Validation({.mode = RunMode::kTest}, {.batches = {{"test", 1}}}, {}).splits().empty());
}

TEST(ValidationTest, BatchesAreLimited) {
  EXPECT_EQ(batches_of(kFacts, "train", -1), 10u);
  EXPECT_EQ(batches_of(kFacts, "train", 0), 0u);
  EXPECT_EQ(batches_of(kFacts, "train", 4), 4u);
  EXPECT_EQ(batches_of(kFacts, "train", 400), 10u);
}

}  // namespace
}  // namespace trainyard::manager
