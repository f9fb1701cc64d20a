// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/run_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard::manager {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(RunSettingsTest, AFitNeedsABound) {
  EXPECT_THAT([] { resolved({}); }, ThrowsMessage<Error>(HasSubstr("give max_steps, max_epochs or max_time_s")));
  EXPECT_NO_THROW(resolved({.max_steps = 5}));
  EXPECT_NO_THROW(resolved({.max_epochs = 5}));
  EXPECT_NO_THROW(resolved({.max_time_s = 5}));
  EXPECT_NO_THROW(resolved({.mode = RunMode::kValidate}));
  EXPECT_NO_THROW(resolved({.fast_dev_run = true}));
}

TEST(RunSettingsTest, ValidationComesEveryEpochUnlessStepsAreGiven) {
  EXPECT_EQ(resolved({.max_steps = 5}).validate_every_epochs, 1);
  EXPECT_EQ(resolved({.max_steps = 5, .validate_every_steps = 2}).validate_every_epochs, 0);
  EXPECT_EQ(resolved({.max_steps = 5, .validate_every_steps = 2, .validate_every_epochs = 3}).validate_every_epochs, 3);
  EXPECT_EQ(resolved({.max_steps = 5, .validate_every_epochs = 0}).validate_every_epochs, 0);
}

TEST(RunSettingsTest, EarlyStoppingNeedsValidation) {
  EXPECT_THAT([] { resolved({.max_steps = 5, .validate_every_epochs = 0, .early_stopping_patience = 2}); },
              ThrowsMessage<Error>(HasSubstr("early_stopping_patience = 2 needs validation")));
  EXPECT_THAT([] { resolved({.max_steps = 5, .limit_val_batches = 0, .early_stopping_patience = 2}); },
              ThrowsMessage<Error>(HasSubstr("limit_val_batches = 0 were given")));
}

TEST(RunSettingsTest, OverfittingLimitsTheEpoch) {
  EXPECT_EQ(resolved({.max_steps = 5, .overfit_batches = 3}).limit_train_batches, 3);
  EXPECT_THAT([] { resolved({.max_steps = 5, .limit_train_batches = 4, .overfit_batches = 3}); },
              ThrowsMessage<Error>(HasSubstr("overfit_batches = 3 and limit_train_batches = 4")));
}

TEST(RunSettingsTest, AFastRunDoesOneOfEverythingAndSavesNothing) {
  const RunSettings fast = resolved({.max_epochs = 100,
                                     .accumulate_grad_batches = 8,
                                     .fast_dev_run = true,
                                     .num_sanity_val_steps = 2,
                                     .checkpoint_every_steps = 10});
  EXPECT_EQ(fast.max_steps, 1);
  EXPECT_EQ(fast.limit_train_batches, 1);
  EXPECT_EQ(fast.limit_val_batches, 1);
  EXPECT_EQ(fast.accumulate_grad_batches, 1);
  EXPECT_EQ(fast.num_sanity_val_steps, 0);
  EXPECT_EQ(fast.checkpoint_every_steps, 0);
  EXPECT_FALSE(fast.checkpoint_at_end);
  EXPECT_FALSE(fast.checkpoint_after_validation);
}

}  // namespace
}  // namespace trainyard::manager
