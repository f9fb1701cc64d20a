// SPDX-License-Identifier: Apache-2.0
// Tests the rules that every strategy must obey, with every strategy in the build.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/testing/error_of.h"
#include "core/traits/plugin_traits.h"
#include "messages/error.h"
#include "strategies/testing/rank_team.h"

namespace trainyard::testing {
namespace {

constexpr std::uint32_t kRanks = 3;

std::vector<std::string> strategies() {
  std::vector<std::string> names;
  for (const auto& found : core::PluginLoader(core::PluginLoader::default_directories()).list()) {
    if (found.label.kind == Strategy::kKind) names.push_back(found.label.name);
  }
  return names;
}

std::string readable(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::erase(name, '_');
  return name;
}

/// The number of samples of every rank in each step. A rank may have none.
constexpr std::int64_t kRows[][kRanks] = {{4, 4, 4}, {4, 3, 0}, {0, 2, 5}, {1, 0, 0}, {3, 3, 3}};

class StrategyContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  StrategyContractTest() {
    context_.where = "strategy '" + GetParam() + "'";
    context_.parameters = "{}";
    declared_ = plugins_.create<Strategy>(GetParam(), context_);
    traits_ = declared_->traits();
    const std::uint32_t most = traits_.max_ranks == 0 ? kRanks : std::min(kRanks, traits_.max_ranks);
    ranks_ = std::max(traits_.min_ranks, most);
  }

  /// Returns the samples that `rank` gets in this step. All ranks get the same samples if the strategy requires it.
  ModelBatch rows_of(std::size_t step, std::uint32_t rank) const {
    if (traits_.same_data) return made_up_rows(step, 6);
    return made_up_rows(100 * rank + step, kRows[step][rank]);
  }

  /// Makes all steps of kRows. Calls `check` on every rank after every step.
  void train(RankTeam& team, const std::function<void(std::uint32_t, TeamMember&, const StepSummary&)>& check = {}) {
    team.each([&](std::uint32_t rank, TeamMember& member) {
      for (std::size_t step = 0; step < std::size(kRows); ++step) {
        const StepSummary summary = member.step(step + 1, rows_of(step, rank));
        if (check) check(rank, member, summary);
      }
    });
  }

  /// Makes the steps [begin, end) of kRows.
  void train_on(RankTeam& team, std::size_t begin, std::size_t end) {
    team.each([&](std::uint32_t rank, TeamMember& member) {
      for (std::size_t step = begin; step < end; ++step) member.step(step + 1, rows_of(step, rank));
    });
  }

  /// Returns true if the results do not depend on timing. They can if every rank makes its updates independently.
  bool is_exact() const { return traits_.gradients != GradientsOfRanks::kIndependent; }

  /// Checks that a step that is dropped after all its micro-batches has no effect on later steps. Calls `end` for each
  /// rank before the step is dropped.
  void expect_no_trace(const std::function<void(Strategy&)>& end) {
    constexpr std::size_t kBefore = 2, kDropped = 3;  // In the dropped step, some ranks have no samples.
    RankTeam one(ranks_, GetParam()), other(ranks_, GetParam());
    train_on(one, 0, kBefore);
    one.each([&](std::uint32_t rank, TeamMember& member) {
      const ModelBatch rows = rows_of(kDropped, rank);
      member.strategy().train({.data = rows, .samples = samples_of(rows)});
      end(member.strategy());
      member.strategy().drop_step();
    });
    train_on(one, kBefore, std::size(kRows));
    train_on(other, 0, std::size(kRows));
    EXPECT_TRUE(one.whole_parameters().equal(other.whole_parameters()));
  }

  core::PluginLoader plugins_{core::PluginLoader::default_directories()};
  StrategyContext context_;
  std::unique_ptr<Strategy> declared_;
  StrategyTraits traits_;
  std::uint32_t ranks_ = 1;
};

TEST_P(StrategyContractTest, RefusesNumbersOfRanksOutsideItsTraits) {
  declared_->check_world_size(ranks_);
  if (traits_.min_ranks > 1) {
    EXPECT_EQ(error_of([&] { declared_->check_world_size(traits_.min_ranks - 1); }).first, Code::kUnsupported);
  }
  if (traits_.max_ranks > 0) {
    EXPECT_EQ(error_of([&] { declared_->check_world_size(traits_.max_ranks + 1); }).first, Code::kUnsupported);
  } else {
    declared_->check_world_size(1000);
  }
}

TEST_P(StrategyContractTest, TellsThePlannerItsTraits) {
  const auto told = std::get<StrategyTraits>(declared_->declared_traits().of_kind);
  EXPECT_EQ(told.min_ranks, traits_.min_ranks);
  EXPECT_EQ(told.max_ranks, traits_.max_ranks);
  EXPECT_EQ(told.share, traits_.share);
  EXPECT_EQ(told.same_data, traits_.same_data);
}

TEST_P(StrategyContractTest, ARankWithoutSamplesTakesPartAndTheParametersMove) {
  RankTeam team(ranks_, GetParam());
  const at::Tensor before = team.whole_parameters();
  train(team);
  const at::Tensor after = team.whole_parameters();
  EXPECT_FALSE(after.equal(before));
  EXPECT_TRUE(std::isfinite(after.sum().item<double>()));
}

TEST_P(StrategyContractTest, RanksAreOneModelAtASnapshot) {
  RankTeam team(ranks_, GetParam());
  train(team);
  team.each([](std::uint32_t, TeamMember& member) { member.strategy().begin_snapshot(); });
  const ArenaShard first = team.member(0).arena().shard();
  for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
    const ArenaShard own = team.member(rank).arena().shard();
    if (own.begin == first.begin && own.end == first.end) {
      EXPECT_TRUE(team.member(rank).announced().equal(team.member(0).announced())) << "rank " << rank;
    } else {
      EXPECT_EQ(own.begin, team.member(rank - 1).arena().shard().end) << "the parts make a whole";
    }
  }
  EXPECT_EQ(team.member(ranks_ - 1).arena().shard().end, team.member(0).arena().layout().parameter_bytes);
}

TEST_P(StrategyContractTest, GradientsAreRelatedAsItsTraitsSay) {
  RankTeam team(ranks_, GetParam());
  std::vector<std::vector<double>> norms(ranks_);
  std::vector<std::vector<at::Tensor>> gradients(ranks_);
  train(team, [&](std::uint32_t rank, TeamMember& member, const StepSummary& summary) {
    EXPECT_TRUE(summary.finite);
    norms[rank].push_back(summary.norm);
    gradients[rank].push_back(member.gradients());
  });
  for (std::size_t step = 0; step < norms[0].size(); ++step) {
    double squares = 0;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      squares += std::pow(gradients[rank][step].norm().item<double>(), 2);
      if (traits_.gradients == GradientsOfRanks::kEqual) {
        EXPECT_TRUE(gradients[rank][step].equal(gradients[0][step]));
      }
      const bool is_global =
          traits_.gradients == GradientsOfRanks::kEqual || traits_.gradients == GradientsOfRanks::kParts;
      if (is_global) {
        EXPECT_EQ(norms[rank][step], norms[0][step]) << "rank " << rank << ", step " << step;
      }
    }
    if (traits_.gradients == GradientsOfRanks::kParts) {
      EXPECT_NEAR(norms[0][step], std::sqrt(squares), 1e-5);
    }
  }
}

TEST_P(StrategyContractTest, AnEvaluationShowsOneModelToAllRanksAndLeavesItAsItWas) {
  RankTeam team(ranks_, GetParam());
  train(team);
  // With a parameter server, these are the server's parameters. An evaluation changes the ranks' copies of them.
  const at::Tensor before = team.whole_parameters();
  std::vector<double> losses(ranks_), whole(ranks_);
  team.each([&](std::uint32_t rank, TeamMember& member) {
    const at::NoGradGuard no_gradients;
    Evaluation& evaluation = member.strategy().begin_evaluation();
    losses[rank] = evaluation.evaluate(member.model(), made_up_rows(7, 4)).at(0).value.item<double>();
    const bool without = rank > 0 && !traits_.same_data;
    const auto metrics = evaluation.evaluate(member.model(), made_up_rows(8, without ? 0 : 4));
    EXPECT_EQ(metrics.empty(), without);
    evaluation.gather_model();
    whole[rank] = member.model().evaluation_step(made_up_rows(7, 4)).at(0).value.item<double>();
    member.strategy().end_evaluation();
  });
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    EXPECT_EQ(losses[rank], losses[0]) << "rank " << rank;
    EXPECT_FLOAT_EQ(static_cast<float>(whole[rank]), static_cast<float>(losses[0])) << "rank " << rank;
  }
  EXPECT_TRUE(team.whole_parameters().equal(before));
}

TEST_P(StrategyContractTest, AStepThatIsGivenUpLeavesNoTrace) {
  RankTeam one(ranks_, GetParam()), other(ranks_, GetParam());
  one.each([&](std::uint32_t rank, TeamMember& member) {
    const ModelBatch rows = rows_of(0, rank);
    member.strategy().train({.data = rows, .samples = samples_of(rows), .last = false});
    member.strategy().drop_step();
  });
  train(one);
  train(other);
  EXPECT_TRUE(one.whole_parameters().equal(other.whole_parameters()));
}

TEST_P(StrategyContractTest, AStepThatIsDroppedBeforeItsEndLeavesNoTrace) {
  if (!is_exact()) GTEST_SKIP() << "its results depend on timing";
  expect_no_trace([](Strategy&) {});
}

TEST_P(StrategyContractTest, AStepThatIsDroppedAfterItsEndLeavesNoTrace) {
  if (!is_exact()) GTEST_SKIP() << "its results depend on timing";
  expect_no_trace([](Strategy& strategy) { strategy.end_step({.check_finite = true}); });
}

TEST_P(StrategyContractTest, AResumedRunContinuesAsIfItHadNotBeenInterrupted) {
  if (!is_exact()) GTEST_SKIP() << "its results depend on timing";
  constexpr std::size_t kSaved = 3;
  std::vector<at::Tensor> parameters(ranks_);
  std::vector<std::vector<SavedState>> states(ranks_);
  RankTeam whole(ranks_, GetParam());
  train_on(whole, 0, kSaved);
  whole.each([&](std::uint32_t rank, TeamMember& member) {
    states[rank] = member.save();
    parameters[rank] = member.announced();
  });
  // The saved values must not change any more, so the first team continues to train before the second team resumes.
  train_on(whole, kSaved, std::size(kRows));

  RestoredStates saved{.path = "checkpoint", .step = kSaved, .ranks = ranks_};
  for (const auto& of_rank : states) saved.states.insert(saved.states.end(), of_rank.begin(), of_rank.end());
  RankTeam resumed(ranks_, GetParam());
  resumed.each([&](std::uint32_t rank, TeamMember& member) { member.resume(parameters[rank], saved); });
  train_on(resumed, kSaved, std::size(kRows));
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    EXPECT_TRUE(resumed.member(rank).announced().equal(whole.member(rank).announced())) << "rank " << rank;
  }
}

TEST_P(StrategyContractTest, TheLossScaleDoesNotChangeTheResult) {
  if (!is_exact()) GTEST_SKIP() << "its results depend on timing";
  constexpr double kScales[] = {1024, 1024, 2048, 0.5, 65536};
  static_assert(std::size(kScales) == std::size(kRows));
  RankTeam scaled(ranks_, GetParam()), other(ranks_, GetParam());
  scaled.each([&](std::uint32_t rank, TeamMember& member) {
    for (std::size_t step = 0; step < std::size(kRows); ++step) {
      member.step(step + 1, rows_of(step, rank), kScales[step]);
    }
  });
  train(other);
  EXPECT_TRUE(scaled.whole_parameters().equal(other.whole_parameters()));
}

INSTANTIATE_TEST_SUITE_P(All, StrategyContractTest, ::testing::ValuesIn(strategies()), readable);

}  // namespace
}  // namespace trainyard::testing
