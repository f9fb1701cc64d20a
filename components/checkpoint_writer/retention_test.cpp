// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/retention.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

using Indexes = std::vector<std::size_t>;

std::vector<StoredCheckpoint> checkpoints(const std::vector<std::optional<double>>& values) {
  std::vector<StoredCheckpoint> all;
  for (const auto& value : values) all.push_back({"p", all.size() * 10, value});
  return all;
}

TEST(RetentionTest, KeepsTheNewestAndTheBest) {
  EXPECT_EQ(to_delete(checkpoints({3, 1, 2, 4, 5}), {.last = 2, .best = 1}), (Indexes{0, 2}));
}

TEST(RetentionTest, ABestThatIsAmongTheNewestTakesNoSecondPlace) {
  EXPECT_EQ(to_delete(checkpoints({3, 2, 1}), {.last = 1, .best = 1}), (Indexes{0, 1}));
}

TEST(RetentionTest, LargeMayBeGood) {
  const RetentionRule rule{.last = 1, .best = 2, .smaller_is_better = false};
  EXPECT_EQ(to_delete(checkpoints({0.9, 0.5, 0.8, 0.1}), rule), (Indexes{1}));
  EXPECT_EQ(best_of(checkpoints({0.5, 0.9, 0.8}), rule), 1u);
}

TEST(RetentionTest, AmongEqualsTheEarliestIsBest) { EXPECT_EQ(best_of(checkpoints({2, 1, 1}), {}), 1u); }

TEST(RetentionTest, WhatWasNotMeasuredIsNeverBest) {
  EXPECT_EQ(best_of(checkpoints({std::nullopt, 5, std::nullopt}), {}), 1u);
  EXPECT_FALSE(best_of(checkpoints({std::nullopt}), {}));
  EXPECT_EQ(to_delete(checkpoints({std::nullopt, std::nullopt, std::nullopt}), {.last = 1, .best = 1}),
            (Indexes{0, 1}));
}

TEST(RetentionTest, ZeroKeepsAll) { EXPECT_EQ(to_delete(checkpoints({3, 1, 2}), {.last = 0, .best = 0}), Indexes{}); }

TEST(RetentionTest, FewerThanTheRuleKeepsAreKept) {
  EXPECT_EQ(to_delete(checkpoints({1}), {.last = 5, .best = 5}), Indexes{});
  EXPECT_EQ(to_delete({}, {}), Indexes{});
}

}  // namespace
}  // namespace trainyard
