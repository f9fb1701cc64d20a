#include "launch/run/transition_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::launch {
namespace {

using Pace = TransitionSequence::Pace;
using ::testing::ElementsAre;

class TransitionSequenceTest : public ::testing::Test {
 protected:
  TransitionSequence make(const std::string& target, Pace pace) {
    return TransitionSequence({2, 0, 1}, target, pace, states_, [this](std::uint32_t i) { asked_.push_back(i); });
  }

  ComponentStates states_{"inactive", "inactive", "inactive"};
  std::vector<std::uint32_t> asked_;
};

TEST_F(TransitionSequenceTest, AsksTheNextWhenTheOneBeforeHasArrived) {
  TransitionSequence sequence = make("active", Pace::kOneByOne);
  EXPECT_FALSE(sequence.advance());
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(2));
  states_[2] = "active";
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(2, 0));
  EXPECT_THAT(sequence.awaited(), ElementsAre(0));
  states_[0] = "active";
  EXPECT_FALSE(sequence.advance());
  states_[1] = "active";
  EXPECT_TRUE(sequence.advance());
}

TEST_F(TransitionSequenceTest, AsksAllAtOnce) {
  TransitionSequence sequence = make("active", Pace::kAllAtOnce);
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(2, 0, 1));
}

TEST_F(TransitionSequenceTest, DoesNotWaitForOneThatFailsOrDiesMeanwhile) {
  TransitionSequence sequence = make("active", Pace::kOneByOne);
  sequence.advance();
  states_[2] = "error";
  EXPECT_FALSE(sequence.advance());
  states_[0] = "gone";
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(sequence.awaited(), ElementsAre(1));
}

TEST_F(TransitionSequenceTest, DeactivatesOnlyWhatIsActive) {
  states_ = {"active", "unconfigured", "error"};
  TransitionSequence sequence = make("inactive", Pace::kOneByOne);
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(0));
  states_[0] = "inactive";
  EXPECT_TRUE(sequence.advance());
}

TEST_F(TransitionSequenceTest, FinalizesWhatFailedTooButNotWhatNeverWas) {
  states_ = {"error", "unconfigured", "gone"};
  TransitionSequence sequence = make("finalized", Pace::kAllAtOnce);
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(0));
}

TEST_F(TransitionSequenceTest, AsksOneThatComesLateAndWasPassedOver) {
  states_ = {"inactive", "unconfigured", "gone"};
  TransitionSequence sequence = make("finalized", Pace::kAllAtOnce);
  EXPECT_FALSE(sequence.advance());
  states_[1] = "inactive";
  EXPECT_FALSE(sequence.advance());
  EXPECT_THAT(asked_, ElementsAre(0, 1));
  states_[0] = states_[1] = "finalized";
  EXPECT_TRUE(sequence.advance());
}

}  // namespace
}  // namespace trainyard::launch
