// SPDX-License-Identifier: Apache-2.0
#include "strategies/diloco/diloco.h"

#include <ATen/TensorOperators.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/testing/error_of.h"
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

/// Makes the steps from `first` to `last` on all ranks.
void make_steps(RankTeam& team, std::uint64_t first, std::uint64_t last) {
  team.each([&](std::uint32_t rank, TeamMember& member) {
    for (std::uint64_t step = first; step <= last; ++step) member.step(step, made_up_rows(10 * step + rank, 4));
  });
}

/// Returns what a checkpoint after step `step` contains.
RestoredStates save(RankTeam& team, std::uint64_t step) {
  RestoredStates saved{.path = "checkpoint", .step = step, .ranks = team.size()};
  std::vector<std::vector<SavedState>> states(team.size());
  team.each([&](std::uint32_t rank, TeamMember& member) { states[rank] = member.save(); });
  for (const auto& of_rank : states) saved.states.insert(saved.states.end(), of_rank.begin(), of_rank.end());
  return saved;
}

/// Each of these saves after step 5, the last two in the middle of an exchange.
class ResumedDilocoTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ResumedDilocoTest, MakesTheStepsOfARunThatWasNotInterrupted) {
  RankTeam whole(2, "diloco", GetParam());
  make_steps(whole, 1, 5);
  const RestoredStates saved = save(whole, 5);
  EXPECT_TRUE(whole.member(1).announced().equal(whole.member(0).announced()));
  RankTeam resumed(2, "diloco", GetParam());
  const at::Tensor there = whole.member(0).announced();
  resumed.each([&](std::uint32_t, TeamMember& member) { member.resume(there, saved); });
  for (std::uint64_t step = 6; step <= 11; ++step) {
    make_steps(whole, step, step);
    make_steps(resumed, step, step);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      EXPECT_TRUE(resumed.member(rank).announced().equal(whole.member(rank).announced()))
          << "rank " << rank << " after step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Exchanges, ResumedDilocoTest,
                         ::testing::Values(R"({"every_steps": 3})", R"({"every_steps": 3, "overlap_steps": 1})",
                                           R"({"every_steps": 4, "overlap_steps": 3})",
                                           R"({"every_steps": 4, "overlap_steps": 3, "compression": "bf16"})"));

TEST(DilocoTest, ARunThatResumesInTheMiddleOfAnExchangeEndsItEvenIfItMakesNoOthersThatOverlap) {
  const char* overlapping = R"({"every_steps": 4, "overlap_steps": 3, "local_share": 0})";
  RankTeam first(2, "diloco", overlapping);
  make_steps(first, 1, 5);
  const RestoredStates saved = save(first, 5);
  RankTeam resumed(2, "diloco", R"({"every_steps": 8, "local_share": 0})");
  const at::Tensor there = first.member(0).announced();
  resumed.each([&](std::uint32_t, TeamMember& member) { member.resume(there, saved); });
  for (RankTeam* team : {&first, &resumed}) {
    make_steps(*team, 6, 6);
    save(*team, 6);  // This leaves the exchange under way.
    make_steps(*team, 7, 7);
  }
  EXPECT_TRUE(resumed.member(0).announced().equal(first.member(0).announced()));
  EXPECT_TRUE(resumed.member(1).announced().equal(first.member(0).announced()));
}

TEST(DilocoTest, ASnapshotDuringAnExchangeIsOfTheMeanOfTheRanks) {
  RankTeam team(2, "diloco", R"({"every_steps": 2, "overlap_steps": 1})");
  make_steps(team, 1, 2);
  const at::Tensor mean = (team.member(0).announced() + team.member(1).announced()) / 2;
  save(team, 2);
  EXPECT_TRUE(team.member(0).announced().equal(mean));
  EXPECT_TRUE(team.member(1).announced().equal(mean));
}

TEST(DilocoTest, ATeamMayEndInTheMiddleOfAnExchange) {
  RankTeam team(3, "diloco", R"({"every_steps": 2, "overlap_steps": 1})");
  make_steps(team, 1, 4);
}

TEST(DilocoTest, RefusesAnExchangeThatTakesLongerThanTheStepsUntilTheNextOne) {
  EXPECT_THAT(error_of([] { RankTeam(1, "diloco", R"({"every_steps": 5, "overlap_steps": 5})"); }),
              ::testing::Pair(Code::kInvalidArgument,
                              "strategy 'diloco': overlap_steps is 5, but must be less than every_steps, which is 5"));
}

}  // namespace
}  // namespace trainyard::testing
