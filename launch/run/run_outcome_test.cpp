// SPDX-License-Identifier: Apache-2.0
#include "launch/run/run_outcome.h"

#include <gtest/gtest.h>

namespace trainyard::launch::testing {
namespace {

TEST(RunOutcomeTest, ARunOfWhichNothingBadIsKnownSucceeded) {
  EXPECT_EQ(RunOutcome{}.exit_code(), ExitCode::kSuccess);
  EXPECT_EQ(RunOutcome{.finish = "run finished: enough"}.exit_code(), ExitCode::kSuccess);
}

TEST(RunOutcomeTest, AnInterruptedRunThatFinishesIsStillInterrupted) {
  EXPECT_EQ((RunOutcome{.interrupted = true, .finish = "run finished: enough"}.exit_code()), ExitCode::kInterrupted);
}

TEST(RunOutcomeTest, FailureCountsBeforeInterruption) {
  EXPECT_EQ((RunOutcome{.failed = true, .interrupted = true}.exit_code()), ExitCode::kFailed);
}

}  // namespace
}  // namespace trainyard::launch::testing
