// SPDX-License-Identifier: Apache-2.0
#include "launch/run/transition_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::launch {
namespace {

using Pace = TransitionSequence::Pace;
using ::testing::ElementsAre;

class TransitionSequenceTest : public ::testing::Test {
 protected:
  TransitionSequence make(State target, Pace pace) {
    return TransitionSequence({2, 0, 1}, target, pace, states_, [this](std::uint32_t i) { asked_.push_back(i); });
  }

  ComponentStates states_{State::kInactive, State::kInactive, State::kInactive};
  std::vector<std::uint32_t> asked_;
};

TEST_F(TransitionSequenceTest, AsksTheNextWhenTheOneBeforeHasArrived) {
  TransitionSequence sequence = make(State::kActive, Pace::kOneByOne);
  EXPECT_FALSE(sequence.advance());
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(2));
  states_[2] = State::kActive;
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(2, 0));
  EXPECT_THAT(sequence.awaited(), ElementsAre(0));
  states_[0] = State::kActive;
  EXPECT_FALSE(sequence.advance());
  states_[1] = State::kActive;
  EXPECT_TRUE(sequence.advance());
}

TEST_F(TransitionSequenceTest, AsksAllAtOnce) {
  TransitionSequence sequence = make(State::kActive, Pace::kAllAtOnce);
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(2, 0, 1));
}

TEST_F(TransitionSequenceTest, DoesNotWaitForOneThatFailsOrDiesMeanwhile) {
  TransitionSequence sequence = make(State::kActive, Pace::kOneByOne);
  sequence.advance();
  states_[2] = State::kError;
  EXPECT_FALSE(sequence.advance());
  states_[0] = kGone;
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(sequence.awaited(), ElementsAre(1));
}

TEST_F(TransitionSequenceTest, DeactivatesOnlyWhatIsActive) {
  states_ = {State::kActive, State::kUnconfigured, State::kError};
  TransitionSequence sequence = make(State::kInactive, Pace::kOneByOne);
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(0));
  states_[0] = State::kInactive;
  EXPECT_TRUE(sequence.advance());
}

TEST_F(TransitionSequenceTest, FinalizesWhatFailedTooButNotWhatNeverWas) {
  states_ = {State::kError, State::kUnconfigured, kGone};
  TransitionSequence sequence = make(State::kFinalized, Pace::kAllAtOnce);
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(0));
}

TEST_F(TransitionSequenceTest, AsksOneThatComesLateAndWasPassedOver) {
  states_ = {State::kInactive, State::kUnconfigured, kGone};
  TransitionSequence sequence = make(State::kFinalized, Pace::kAllAtOnce);
  EXPECT_FALSE(sequence.advance());
  states_[1] = State::kInactive;
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(0, 1));
  states_[0] = states_[1] = State::kFinalized;
  EXPECT_TRUE(sequence.advance());
}

TEST(KnownStateTest, HasTheStatesOwnWordUnlessTheProcessIsDead) {
  EXPECT_EQ(state_name(KnownState(State::kActive)), "active");
  EXPECT_EQ(state_name(kGone), "gone");
}

}  // namespace
}  // namespace trainyard::launch
