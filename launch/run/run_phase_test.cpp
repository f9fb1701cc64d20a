// SPDX-License-Identifier: Apache-2.0
#include "launch/run/run_phase.h"

#include <gtest/gtest.h>

#include <vector>

#include "messages/error.h"

namespace trainyard::launch::testing {
namespace {

constexpr RunPhase kAll[] = {RunPhase::kStarting,     RunPhase::kConnecting, RunPhase::kRunning, RunPhase::kAsking,
                             RunPhase::kDeactivating, RunPhase::kFinalizing, RunPhase::kEnding,  RunPhase::kForced};

/// Returns the phases that may follow `now`, by trying all phases.
std::vector<RunPhase> followers(RunPhase now) {
  std::vector<RunPhase> found;
  for (const RunPhase next : kAll) {
    if (may_follow(now, next)) found.push_back(next);
  }
  return found;
}

using Phases = std::vector<RunPhase>;

TEST(RunPhaseTest, AStartGoesOnStepByStepAndCanBeStoppedAtEveryStep) {
  const RunPhase ask = RunPhase::kAsking;
  const RunPhase deactivate = RunPhase::kDeactivating;
  EXPECT_EQ(followers(RunPhase::kStarting), (Phases{RunPhase::kConnecting, ask, deactivate}));
  EXPECT_EQ(followers(RunPhase::kConnecting), (Phases{RunPhase::kRunning, ask, deactivate}));
  EXPECT_EQ(followers(RunPhase::kRunning), (Phases{ask, deactivate}));
}

TEST(RunPhaseTest, AStopGoesOnStepByStepAndCanBeForcedAtEveryStep) {
  const RunPhase deactivate = RunPhase::kDeactivating;
  const RunPhase force = RunPhase::kForced;
  EXPECT_EQ(followers(RunPhase::kAsking), (Phases{deactivate, force}));
  EXPECT_EQ(followers(RunPhase::kDeactivating), (Phases{deactivate, RunPhase::kFinalizing, force}));
  EXPECT_EQ(followers(RunPhase::kFinalizing), (Phases{RunPhase::kEnding, force}));
  EXPECT_EQ(followers(RunPhase::kEnding), (Phases{force}));
  EXPECT_EQ(followers(RunPhase::kForced), (Phases{force}));
}

TEST(RunPhaseTest, OnlyARunThatIsNeitherStartingNorStoppingRuns) {
  RunProgress progress;
  EXPECT_TRUE(progress.starting());
  progress.enter(RunPhase::kConnecting);
  EXPECT_TRUE(progress.starting());
  EXPECT_FALSE(progress.stopping());
  progress.enter(RunPhase::kRunning);
  EXPECT_FALSE(progress.starting());
  EXPECT_FALSE(progress.stopping());
  progress.enter(RunPhase::kAsking);
  EXPECT_FALSE(progress.starting());
  EXPECT_TRUE(progress.stopping());
}

TEST(RunPhaseTest, AChangeThatNoRunHasNamesBothPhasesAndChangesNothing) {
  RunProgress progress;
  progress.enter(RunPhase::kDeactivating);
  try {
    progress.enter(RunPhase::kRunning);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInternal);
    EXPECT_STREQ(error.what(), "a run cannot go from the phase 'deactivating' to 'running'");
  }
  EXPECT_EQ(progress.phase(), RunPhase::kDeactivating);
}

}  // namespace
}  // namespace trainyard::launch::testing
