// SPDX-License-Identifier: Apache-2.0
#include "strategies/diloco/diloco.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "strategies/testing/rank_team.h"

namespace trainyard::testing {
namespace {

/// With a learning rate of 1 and no momentum, the result of the outer optimizer is the mean of the ranks' parameters.
TEST(DilocoTest, WithoutMomentumTheAnchorMovesToTheMeanOfTheRanks) {
  RankTeam team(2, "diloco", R"({"every_steps": 2, "outer_lr": 1, "outer_momentum": 0})");
  RankTeam apart(2, "diloco", R"({"every_steps": 100})");
  for (RankTeam* one : {&team, &apart}) {
    one->each([&](std::uint32_t rank, TeamMember& member) {
      for (std::uint64_t step = 1; step <= 2; ++step) member.step(step, made_up_rows(rank, 4));
    });
  }
  const at::Tensor mean = (apart.member(0).announced() + apart.member(1).announced()) / 2;
  EXPECT_LE((team.member(0).announced() - mean).abs().max().item<double>(), 1e-6);
  EXPECT_TRUE(team.member(1).announced().equal(team.member(0).announced()));
}

TEST(DilocoTest, AResumedRunGoesOnWithTheMomentumOfTheOuterOptimizer) {
  const char* parameters = R"({"every_steps": 2})";
  const auto steps = [](RankTeam& team, std::uint64_t first, std::uint64_t last) {
    team.each([&](std::uint32_t rank, TeamMember& member) {
      for (std::uint64_t step = first; step <= last; ++step) member.step(step, made_up_rows(10 * step + rank, 4));
    });
  };
  RankTeam whole(2, "diloco", parameters);
  steps(whole, 1, 4);
  RestoredStates saved{.path = "checkpoint", .step = 4, .ranks = 2};
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    for (const SavedState& state : whole.member(rank).save()) saved.states.push_back(state);
  }
  RankTeam resumed(2, "diloco", parameters);
  const at::Tensor there = whole.member(0).announced();
  resumed.each([&](std::uint32_t, TeamMember& member) { member.resume(there, saved); });
  steps(whole, 5, 8);
  steps(resumed, 5, 8);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_TRUE(resumed.member(rank).announced().equal(whole.member(rank).announced())) << "rank " << rank;
  }
}

}  // namespace
}  // namespace trainyard::testing
