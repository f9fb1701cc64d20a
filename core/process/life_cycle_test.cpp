// SPDX-License-Identifier: Apache-2.0
#include "core/process/life_cycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard::core {
namespace {

using ::testing::ElementsAre;

/// A component that throws in the hook that the test chooses.
class Fragile final : public Component {
 public:
  explicit Fragile(ComponentContext& context) : Component(context) {}
  bool fails_to_activate = false;

 private:
  void on_activate() override {
    if (fails_to_activate) throw Error(Code::kInternal, "no strength");
  }
};

/// A fixture with one component, whose loop is also the control loop, so that the test runs both in one thread.
class LifeCycleTest : public ::testing::Test {
 protected:
  void settle() {
    while (loop_.run_once()) {
    }
  }
  void bring(State state) {
    life_.bring(component_, state);
    settle();
  }
  ComponentContext context() {
    ComponentContext context;
    context.name = "fragile";
    context.parameters = "{}";
    context.loop = &loop_;
    return context;
  }

  EventLoop loop_{"control"};
  ComponentContext context_ = context();
  Fragile component_{context_};
  std::vector<std::string> reports_;
  LifeCycle life_{
      loop_,
      {.state_changed =
           [this](const std::string& name, State state, const std::string& error) {
             reports_.push_back(name + " " + std::string(name_of(state)) + (error.empty() ? "" : ": ") + error);
           },
       .configured = [this] { reports_.emplace_back("configured"); },
       .ended = [this] { reports_.emplace_back("ended"); }}};
};

TEST_F(LifeCycleTest, ReportsEveryStateThatAComponentReaches) {
  for (const State state : {State::kInactive, State::kActive, State::kInactive, State::kFinalized}) bring(state);
  EXPECT_THAT(reports_, ElementsAre("fragile inactive", "fragile active", "fragile inactive", "fragile finalized"));
}

TEST_F(LifeCycleTest, ReportsWhyAComponentFailsAndThenAsksNothingMoreOfIt) {
  component_.fails_to_activate = true;
  for (const State state : {State::kInactive, State::kActive, State::kFinalized}) bring(state);
  EXPECT_EQ(component_.state(), State::kError);
  EXPECT_THAT(reports_, ElementsAre("fragile inactive", "fragile error: no strength", "fragile finalized"));
}

// The launcher does this if another component fails before the launcher has received the report of the activation.
TEST_F(LifeCycleTest, AnActiveComponentCanBeFinalizedAtOnce) {
  for (const State state : {State::kInactive, State::kActive, State::kFinalized}) bring(state);
  EXPECT_EQ(component_.state(), State::kFinalized);
  EXPECT_THAT(reports_, ElementsAre("fragile inactive", "fragile active", "fragile finalized"));
}

TEST_F(LifeCycleTest, AProcessWhosePlanFailedCannotBecomeAnythingElse) {
  life_.plan_failed();
  EXPECT_EQ(life_.phase(), ProcessPhase::kFailed);
  EXPECT_THROW(life_.plan_failed(), Error);
}

TEST(ProcessPhaseTest, APlanComesBeforeComponentsAndTheirEndIsTheLast) {
  EXPECT_TRUE(may_follow(ProcessPhase::kWaiting, ProcessPhase::kConfiguring));
  EXPECT_TRUE(may_follow(ProcessPhase::kConfiguring, ProcessPhase::kConfigured));
  EXPECT_TRUE(may_follow(ProcessPhase::kConfigured, ProcessPhase::kEnded));
  EXPECT_FALSE(may_follow(ProcessPhase::kWaiting, ProcessPhase::kConfigured));
  EXPECT_FALSE(may_follow(ProcessPhase::kEnded, ProcessPhase::kConfiguring));
  EXPECT_FALSE(may_follow(ProcessPhase::kConfigured, ProcessPhase::kFailed));
}

}  // namespace
}  // namespace trainyard::core
