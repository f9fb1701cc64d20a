// SPDX-License-Identifier: Apache-2.0
#include "viewer/curve_shelf.h"

#include <gmock/gmock.h>

#include "core/testing/error_of.h"

namespace trainyard::viewer {
namespace {

TEST(CurveShelfTest, NamesTheNearestStageAndMetric) {
  CurveShelf shelf;
  shelf.add(Metrics{.step = 1, .stage = "train", .time_ns = 1000, .values = {{"loss", 1}}});
  const auto error = [&](const char* stage, const char* name) {
    return trainyard::testing::error_of([&] { shelf.curve(stage, name, {}); }).second;
  };
  EXPECT_EQ(error("trian", "loss"), "the run has no stage 'trian'; did you mean 'train'? known: train");
  EXPECT_EQ(error("train", "los"), "the stage 'train' has no metric 'los'; did you mean 'loss'? known: loss");
}

TEST(CurveShelfTest, WithoutAStartTheTimeCountsFromTheFirstRow) {
  CurveShelf shelf;
  for (const std::uint64_t step : {1, 2}) {
    shelf.add(Metrics{.step = step,
                      .stage = "train",
                      .time_ns = static_cast<std::int64_t>(step) * 2'000'000'000,
                      .values = {{"loss", 1}}});
  }
  EXPECT_THAT(shelf.curve("train", "loss", {.axis = Axis::kTime}).x, ::testing::ElementsAre(0, 2));
  EXPECT_THAT(shelf.curve("train", "loss", {.axis = Axis::kTime, .zero_time = 1}).x, ::testing::ElementsAre(1, 3));
}

TEST(CurveShelfTest, StagesBeyondTheMostAreIgnored) {
  CurveShelf shelf;
  for (std::size_t i = 0; i <= CurveShelf::kMaxStages; ++i) {
    const Metrics metrics{.step = i, .stage = "stage" + std::to_string(i), .values = {{"loss", 1}}};
    EXPECT_EQ(shelf.add(metrics), i < CurveShelf::kMaxStages);
  }
  EXPECT_EQ(shelf.list().size(), CurveShelf::kMaxStages);
  EXPECT_EQ(shelf.step(), CurveShelf::kMaxStages - 1);
}

}  // namespace
}  // namespace trainyard::viewer
