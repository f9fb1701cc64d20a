// SPDX-License-Identifier: Apache-2.0
#include "strategies/local_sgd/local_sgd.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "strategies/testing/rank_team.h"

namespace trainyard::testing {
namespace {

TEST(LocalSgdTest, RanksStepAloneAndBecomeTheirMeanEveryFewSteps) {
  RankTeam team(3, "local_sgd", R"({"every_steps": 2})");
  const auto step = [&](std::uint64_t number) {
    team.each([&](std::uint32_t rank, TeamMember& member) { member.step(number, made_up_rows(rank, 4)); });
  };
  step(1);
  EXPECT_FALSE(team.member(1).announced().equal(team.member(0).announced()));
  step(2);
  for (std::uint32_t rank = 1; rank < 3; ++rank) {
    EXPECT_TRUE(team.member(rank).announced().equal(team.member(0).announced())) << "rank " << rank;
  }
}

TEST(LocalSgdTest, AnEvaluationWorksOnTheMeanAndGivesEveryRankItsOwnValuesBack) {
  RankTeam team(2, "local_sgd", R"({"every_steps": 100})");
  team.each([](std::uint32_t rank, TeamMember& member) { member.step(1, made_up_rows(rank, 4)); });
  const at::Tensor first = team.member(0).announced(), second = team.member(1).announced();
  team.each([&](std::uint32_t, TeamMember& member) {
    member.strategy().begin_evaluation();
    EXPECT_LE((member.announced() - (first + second) / 2).abs().max().item<double>(), 1e-6);
    member.strategy().end_evaluation();
  });
  EXPECT_TRUE(team.member(0).announced().equal(first));
  EXPECT_TRUE(team.member(1).announced().equal(second));
}

}  // namespace
}  // namespace trainyard::testing
