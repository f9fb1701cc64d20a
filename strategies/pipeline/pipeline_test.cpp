// SPDX-License-Identifier: Apache-2.0
#include "strategies/pipeline/pipeline.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/testing/error_of.h"
#include "messages/error.h"
#include "strategies/testing/rank_team.h"

namespace trainyard::pipeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using trainyard::testing::made_up_rows;
using trainyard::testing::RankTeam;
using trainyard::testing::TeamMember;

/// Makes stages, each with one parameter; `sizes` contains the numbers of elements.
std::vector<Stage> stages_of(const std::vector<std::int64_t>& sizes) {
  std::vector<Stage> stages;
  for (const std::int64_t size : sizes) {
    const std::string name = "stage" + std::to_string(stages.size());
    stages.push_back({.name = name,
                      .parameters = {{name + ".weight", at::empty({size}).set_requires_grad(true)}},
                      .buffers = {},
                      .forward = {}});
  }
  return stages;
}

ArenaLayout layout_of(const std::vector<Stage>& stages) {
  std::vector<NamedTensor> parameters;
  for (const Stage& stage : stages) parameters.push_back(stage.parameters.front());
  return ArenaLayout::of(parameters, {});
}

std::string error_of(const std::vector<Stage>& stages, const ArenaLayout& layout, std::uint32_t ranks) {
  try {
    place_stages(stages, layout, ranks, "strategy 'pipeline'");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kUnsupported);
    return error.what();
  }
  return "no error";
}

TEST(PlacementTest, TheHeaviestPartIsAsLightAsItCanBe) {
  EXPECT_THAT(cut_evenly({1, 1, 1, 1}, 2), ElementsAre(0, 2, 4));
  EXPECT_THAT(cut_evenly({9, 1, 1, 1, 1}, 2), ElementsAre(0, 1, 5));
  EXPECT_THAT(cut_evenly({1, 1, 1, 1, 9}, 3), ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(cut_evenly({0, 0, 0}, 3), ElementsAre(0, 1, 2, 3)) << "none is left without";
  EXPECT_THAT(cut_evenly({5}, 1), ElementsAre(0, 1));
}

TEST(PlacementTest, RanksHaveTheBytesOfTheirStages) {
  const std::vector<Stage> stages = stages_of({16, 16, 16, 48});
  const Placement placement = place_stages(stages, layout_of(stages), 2, "here");
  EXPECT_THAT(placement.stages, ElementsAre(0, 3, 4));
  EXPECT_THAT(placement.bytes, ElementsAre(0, 3 * 64, 6 * 64));
  EXPECT_EQ(placement.rank_of_stage(2), 0u);
  EXPECT_EQ(placement.rank_of_stage(3), 1u);
}

TEST(PlacementTest, WhatCannotBePlacedIsRefusedByName) {
  std::vector<Stage> stages = stages_of({16, 16, 16});
  const ArenaLayout layout = layout_of(stages);
  EXPECT_EQ(error_of(stages, layout, 4),
            "strategy 'pipeline': the run has 4 ranks, the model has 3 stages; every rank needs one");
  EXPECT_EQ(error_of({}, layout, 2),
            "strategy 'pipeline': the model is one piece; models with stages are needed, as mlp has");
  stages[2].parameters.push_back(stages[0].parameters[0]);
  EXPECT_EQ(error_of(stages, layout, 3),
            "strategy 'pipeline': parameter 'stage0.weight' belongs to stage 'stage0' on rank 0 and to stage 'stage2' "
            "on rank 2; all stages that share a parameter must be on one rank");
  EXPECT_EQ(error_of(stages, layout, 1), "no error");
}

TEST(PlacementTest, StagesAgainstTheOrderOfTheArenaAreRefused) {
  std::vector<Stage> stages = stages_of({16, 16, 16});
  const ArenaLayout layout = layout_of(stages);
  std::swap(stages[0], stages[2]);
  EXPECT_EQ(error_of(stages, layout, 3),
            "strategy 'pipeline': parameter 'stage1.weight' of stage 'stage1' comes after those of later stages");
}

/// Returns the largest number of micro-batches that are between their forward and backward pass at the same time. Also
/// checks that each micro-batch has one forward and one backward pass, in order.
std::size_t most_held(const std::vector<Action>& actions, std::size_t micro_batches) {
  std::size_t forward = 0, backward = 0, most = 0;
  for (const Action& action : actions) {
    std::size_t& count = action.kind == Action::kForward ? forward : backward;
    EXPECT_EQ(action.micro_batch, count++);
    EXPECT_LE(backward, forward);
    most = std::max(most, forward - backward);
  }
  EXPECT_EQ(forward, micro_batches);
  EXPECT_EQ(backward, micro_batches);
  return most;
}

TEST(ScheduleTest, OneForwardOneBackwardHoldsNoMoreThanThePipelineIsDeepFromHere) {
  for (std::uint32_t ranks = 1; ranks <= 5; ++ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t count = 1; count <= 9; ++count) {
        EXPECT_EQ(most_held(one_forward_one_backward(count, rank, ranks), count),
                  std::min<std::size_t>(count, ranks - rank));
        EXPECT_EQ(most_held(gpipe(count), count), count);
      }
    }
  }
}

/// Neighbours must see the same order of messages; otherwise they would wait for each other forever (see
/// Pipeline::backward).
TEST(ScheduleTest, NeighboursMeetInTheSameOrder) {
  const auto with_next = [](const std::vector<Action>& actions) {
    std::string order;
    for (const Action& action : actions) {
      order += fmt::format("{}{} ", action.kind == Action::kForward ? "a" : "g", action.micro_batch);
    }
    return order;
  };
  const auto with_previous = [](const std::vector<Action>& actions) {
    std::string order;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (actions[i].kind == Action::kForward) {
        const bool expected = i > 0 && actions[i - 1].kind == Action::kBackward;
        if (!expected) order += fmt::format("a{} ", actions[i].micro_batch);
        continue;
      }
      const bool forward_follows = i + 1 < actions.size() && actions[i + 1].kind == Action::kForward;
      if (forward_follows) order += fmt::format("a{} ", actions[i + 1].micro_batch);
      order += fmt::format("g{} ", actions[i].micro_batch);
    }
    return order;
  };
  for (std::uint32_t ranks = 2; ranks <= 5; ++ranks) {
    for (std::uint32_t rank = 0; rank + 1 < ranks; ++rank) {
      for (std::size_t count = 1; count <= 9; ++count) {
        EXPECT_EQ(with_next(one_forward_one_backward(count, rank, ranks)),
                  with_previous(one_forward_one_backward(count, rank + 1, ranks)));
      }
    }
  }
}

TEST(PipelineTest, MetricsOfAllRanksAreMergedAsTheModelSays) {
  const ModelBatch rows = made_up_rows(1, 4);
  std::vector<std::vector<NamedMetric>> metrics(2);
  std::vector<NamedMetric> alone;
  RankTeam team(2, "pipeline");
  team.each([&](std::uint32_t rank, TeamMember& member) {
    const at::NoGradGuard no_gradients;
    metrics[rank] = member.strategy().begin_evaluation().evaluate(member.model(), rows);
    member.strategy().end_evaluation();
  });
  {
    const at::NoGradGuard no_gradients;
    RankTeam single(1, "single_device");
    alone = single.member(0).model().evaluation_step(rows);
  }
  ScalarMerger merger;
  for (const std::vector<NamedMetric>& of_rank : metrics) {
    for (const NamedMetric& metric : of_rank) {
      merger.add(metric.name, metric.value.item<double>(), 4, metric.reduction);
    }
  }
  const std::vector<Scalar> merged = merger.values();
  ASSERT_EQ(merged.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(merged[i].name, alone[i].name);
    EXPECT_EQ(merged[i].value, alone[i].value.item<double>()) << alone[i].name;
    EXPECT_EQ(metrics[0][i].reduction, alone[i].reduction) << alone[i].name;
  }
}

TEST(PipelineTest, ALossThatIsNotANumberIsReportedWithItsStep) {
  RankTeam team(2, "pipeline");
  const auto [code, text] = trainyard::testing::error_of([&] {
    team.each([](std::uint32_t, TeamMember& member) {
      const ModelBatch rows = made_up_rows(1, 4);
      at::Tensor(rows.tensors[0]).fill_(NAN);
      member.strategy().train({.data = rows, .samples = 4, .epoch = 3, .index = 5, .step = 7});
    });
  });
  EXPECT_THAT(text, HasSubstr("the loss is nan in step 7, batch 5 of epoch 3 (train)"));
}

}  // namespace
}  // namespace trainyard::pipeline
