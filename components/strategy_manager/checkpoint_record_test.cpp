// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/checkpoint_record.h"

#include <gtest/gtest.h>

namespace trainyard::manager {
namespace {

const RunState kStart{.step = 13, .cursor = {.epoch = 1, .samples = 3}};

TEST(CheckpointRecordTest, WhereTheRunBeginsNothingHasToBeSaved) {
  const CheckpointRecord record(15, kStart);
  EXPECT_TRUE(record.planned_at(15)) << "the ordered steps include those that were skipped";
  EXPECT_FALSE(record.planned_at(13));
  EXPECT_TRUE(record.taken_at({13, 1, 3}));
  EXPECT_TRUE(record.all_written());
}

TEST(CheckpointRecordTest, ASkippedStepIsAnotherPlaceBecauseTheCursorHasMoved) {
  CheckpointRecord record(0, {});
  record.take(7, {20, 2, 64});
  EXPECT_TRUE(record.taken_at(place_of({.step = 20, .cursor = {.epoch = 2, .samples = 64}})));
  EXPECT_FALSE(record.taken_at(place_of({.step = 20, .cursor = {.epoch = 2, .samples = 96}})));
}

TEST(CheckpointRecordTest, ACheckpointIsOpenUntilItIsOnDisk) {
  CheckpointRecord record(0, {});
  record.take(7, {20, 2, 64});
  EXPECT_FALSE(record.all_written());
  record.write({.order = 7});
  EXPECT_TRUE(record.all_written());
}

TEST(CheckpointRecordTest, ACheckpointMayBeOnDiskBeforeItIsKnownAsTaken) {
  CheckpointRecord record(0, {});
  record.write({.order = 7});
  record.take(7, {20, 2, 64});
  EXPECT_TRUE(record.all_written());
  record.take(8, {40, 4, 0});
  EXPECT_FALSE(record.all_written()) << "the early report was about another checkpoint";
}

TEST(CheckpointRecordTest, OnlyTheErrorOfTheNewestCheckpointCounts) {
  CheckpointRecord record(0, {});
  record.take(7, {20, 2, 64});
  record.write({.order = 7, .error = "no space"});
  EXPECT_TRUE(record.all_written()) << "a failure is an answer, too";
  EXPECT_EQ(record.error(), "no space");
  record.take(8, {40, 4, 0});
  record.write({.order = 8});
  EXPECT_EQ(record.error(), "");
}

}  // namespace
}  // namespace trainyard::manager
