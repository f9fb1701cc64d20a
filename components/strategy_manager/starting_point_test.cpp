// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/starting_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/strategy_manager/data_facts.h"
#include "messages/error.h"

namespace trainyard::manager {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

class StartingPointTest : public ::testing::Test {
 protected:
  RunState checked(const RunSettings& settings = {}) {
    return start_.checked(data_, settings, train_, [this](const std::string& text) { warnings_.push_back(text); });
  }
  void resume_from(const RunState& place) {
    start_.set_place(place);
    start_.set_states({.path = place.path, .states = data_state(data_)});
  }

  SplitInfo train_{.name = "train", .samples = 1000, .batches = 100, .batch_samples = 10};
  DatasetInfo data_{.dataset = "text", .splits = {train_}, .seed = 1, .sampling = "shuffle"};
  StartingPoint start_;
  std::vector<std::string> warnings_;
};

TEST_F(StartingPointTest, ANewRunBeginsAtZeroAndHasNothingToCompare) {
  const RunState start = checked();
  EXPECT_FALSE(start.resumed);
  EXPECT_EQ(start.step, 0u);
  EXPECT_TRUE(start_.states().states.empty());
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(StartingPointTest, AResumedRunBeginsWhereTheCheckpointIs) {
  resume_from({.resumed = true, .path = "step-13", .step = 13, .cursor = {.epoch = 1, .samples = 30}});
  const RunState start = checked();
  EXPECT_EQ(start.step, 13u);
  EXPECT_EQ(start.cursor.samples, 30u);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(StartingPointTest, OtherDataThanThatOfTheCheckpointIsRefusedUnlessItIsAccepted) {
  resume_from({.resumed = true, .path = "step-13", .step = 13});
  data_.seed = 2;
  EXPECT_THAT([this] { checked(); }, ThrowsMessage<Error>(HasSubstr("the seed is 1 there and 2 here")));
  EXPECT_EQ(checked({.may_differ = {Difference::kSeed}}).step, 13u);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("accepted by may_differ: ")));
}

TEST_F(StartingPointTest, ACheckpointThatSaysNothingOfItsDataIsTakenWithAWarning) {
  start_.set_place({.resumed = true, .path = "step-13", .step = 13});
  EXPECT_EQ(checked().step, 13u);
  EXPECT_THAT(warnings_, ElementsAre("step-13 does not say on which data it was trained, so nothing is compared"));
}

TEST_F(StartingPointTest, APositionInBatchesIsTakenInSamplesOnlyIfTheUserSaysSo) {
  resume_from({.resumed = true, .path = "step-13", .step = 13, .cursor = {.epoch = 2}, .cursor_batches = 7});
  EXPECT_THAT([this] { checked(); },
              ThrowsMessage<Error>(HasSubstr("says only that 7 batches of epoch 2 had been used")));
  EXPECT_EQ(checked({.may_differ = {Difference::kPosition}}).cursor.samples, 70u);
  EXPECT_THAT(warnings_, ElementsAre("step-13 is resumed after 7 batches of epoch 2, as large as those of this run"));
}

TEST_F(StartingPointTest, OnlyAFitNeedsThePosition) {
  resume_from({.resumed = true, .path = "step-13", .step = 13, .cursor_batches = 7});
  EXPECT_EQ(checked({.mode = RunMode::kTest}).cursor.samples, 0u);
}

}  // namespace
}  // namespace trainyard::manager
