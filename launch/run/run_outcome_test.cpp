// SPDX-License-Identifier: Apache-2.0
#include "launch/run/run_outcome.h"

#include <gtest/gtest.h>

namespace trainyard::launch::testing {
namespace {

RunOutcome finished(bool success = true) {
  RunOutcome outcome;
  outcome.finish("stopped by request", success);
  return outcome;
}

TEST(RunOutcomeTest, ARunOfWhichNothingBadIsKnownSucceeded) {
  EXPECT_EQ(RunOutcome{}.exit_code(), ExitCode::kSuccess);
  EXPECT_EQ(RunOutcome{}.last_words(), "run finished: every program has ended");
  EXPECT_EQ(finished().exit_code(), ExitCode::kSuccess);
  EXPECT_EQ(finished().last_words(), "run finished: stopped by request");
}

TEST(RunOutcomeTest, AnInterruptedRunThatFinishesIsStillInterrupted) {
  RunOutcome outcome = finished();
  outcome.interrupt("SIGINT came");
  EXPECT_EQ(outcome.exit_code(), ExitCode::kInterrupted);
  EXPECT_EQ(outcome.last_words(), "run finished: stopped by request");
}

TEST(RunOutcomeTest, TheStateIsRunningUntilSomethingIsKnown) {
  RunOutcome outcome;
  EXPECT_EQ(outcome.state_so_far(), archive::LaunchState::kRunning);
  outcome.interrupt("SIGINT came");
  EXPECT_EQ(outcome.state_so_far(), archive::LaunchState::kInterrupted);
  outcome.fail("the disk is full");
  EXPECT_EQ(outcome.state_so_far(), archive::LaunchState::kFailed);
  EXPECT_EQ(finished().state_so_far(), archive::LaunchState::kEnded);
}

TEST(RunOutcomeTest, FailureCountsBeforeInterruption) {
  RunOutcome outcome;
  outcome.interrupt("SIGINT came");
  outcome.fail("process 'p0' (c0) was killed by signal 9 (Killed)");
  EXPECT_EQ(outcome.exit_code(), ExitCode::kFailed);
  EXPECT_EQ(outcome.last_words(), "run failed: process 'p0' (c0) was killed by signal 9 (Killed) (after SIGINT came)");
}

TEST(RunOutcomeTest, ARunThatFailedIsNeverSaidToHaveFinished) {
  RunOutcome outcome = finished();
  outcome.fail("component 'c0' did not become inactive within 10 s");
  EXPECT_EQ(outcome.exit_code(), ExitCode::kFailed);
  EXPECT_EQ(outcome.last_words(), "run failed: component 'c0' did not become inactive within 10 s; stopped by request");
  EXPECT_EQ(finished(false).last_words(), "run failed: stopped by request");
}

TEST(RunOutcomeTest, TheFirstFailureIsNamedInOneLine) {
  RunOutcome outcome;
  outcome.fail("the types differ\nthe publisher has A");
  outcome.fail("component 'c0' did not become finalized within 2 s");
  EXPECT_EQ(outcome.last_words(), "run failed: the types differ");
}

TEST(RunOutcomeTest, AnImpatientUserIsToldThatAllWereEndedAtOnce) {
  RunOutcome outcome;
  outcome.interrupt("SIGINT came");
  EXPECT_EQ(outcome.last_words(), "run ended: SIGINT came");
  outcome.force();
  EXPECT_EQ(outcome.exit_code(), ExitCode::kInterrupted);
  EXPECT_EQ(outcome.last_words(), "run ended: all processes were ended at once, after SIGINT came");
}

}  // namespace
}  // namespace trainyard::launch::testing
