// SPDX-License-Identifier: Apache-2.0
#include "core/component/gate.h"

#include <gtest/gtest.h>

#include "core/component/component.h"
#include "core/testing/rig.h"
#include "messages/run_state.h"
#include "messages/step.h"

namespace trainyard::testing {
namespace {

struct GateTest : ::testing::Test {
  Gate::Need need(const std::string& what, std::size_t count) {
    return {gate, what, [count] { return count; }};
  }

  int begun = 0;
  Gate gate{[this] {
    EXPECT_TRUE(gate.open()) << "what is begun may ask";
    ++begun;
  }};
};

TEST_F(GateTest, BeginsWhenTheLastThingHasComeAndOnlyOnce) {
  Gate::Need arena = need("arenas", 1);
  Gate::Need state = need("states", 1);
  state.arrived();
  EXPECT_TRUE(state.met());
  EXPECT_FALSE(gate.open());
  EXPECT_EQ(begun, 0);
  arena.arrived();
  EXPECT_TRUE(gate.open());
  EXPECT_EQ(begun, 1);
  arena.arrived(1);
  EXPECT_EQ(begun, 1);
}

TEST_F(GateTest, CountsEverySenderOnce) {
  Gate::Need models = need("models", 2);
  models.arrived(1);
  models.arrived(1);
  EXPECT_FALSE(gate.open());
  models.arrived(0);
  EXPECT_TRUE(gate.open());
}

TEST_F(GateTest, SaysWhatIsMissing) {
  Gate::Need models = need("models", 3);
  Gate::Need state = need("run_state", 1);
  models.arrived(2);
  EXPECT_EQ(gate.missing(), "1 of 3 models, 0 of 1 run_state");
  state.arrived();
  EXPECT_EQ(gate.missing(), "1 of 3 models");
  models.arrived(0);
  models.arrived(1);
  EXPECT_EQ(gate.missing(), "");
}

TEST_F(GateTest, AsksHowManyAreWantedWhenSomethingArrives) {
  std::size_t wanted = 0;
  Gate::Need models{gate, "models", [&] { return wanted; }};
  Gate::Need state = need("run_state", 1);
  EXPECT_EQ(begun, 0) << "not before anything has arrived";
  wanted = 1;
  state.arrived();
  EXPECT_EQ(begun, 0);
  models.arrived();
  EXPECT_EQ(begun, 1);
}

/// A component that begins when it has received Parameters and, if the input is connected, a RunState.
class Starter final : public Component {
 public:
  explicit Starter(ComponentContext& context) : Component(context) {}
  bool begun = false;

 private:
  Gate gate_{[this] { begun = true; }};
  Input<Parameters> parameters_{*this, "parameters", "required", [this](const auto&) { ready_.arrived(); }};
  Input<RunState> run_state_{
      *this, "run_state", "not required", [this](const auto&) { restored_.arrived(); }, {.optional = true}};
  Gate::Need ready_{gate_, parameters_};
  Gate::Need restored_{gate_, run_state_};
};

TEST(GateOfInputsTest, WaitsForAMessageOfEveryInputThatIsConnected) {
  Rig rig;
  auto& starter = rig.add<Starter>("starter");
  rig.start();
  rig.send("parameters", Parameters{});
  rig.run_until_idle();
  EXPECT_FALSE(starter.begun) << "the rig connects what is optional, too";
  rig.send("run_state", RunState{});
  rig.run_until_idle();
  EXPECT_TRUE(starter.begun);
}

TEST(GateOfInputsTest, TheFirstMessageIsEnoughHoweverManySendersThereAre) {
  Rig rig;
  auto& starter = rig.add<Starter>("starter");
  rig.start();
  for (InputBase* input : starter.inputs()) input->set_connections(2);
  rig.send("parameters", Parameters{});
  rig.send("run_state", RunState{});
  rig.run_until_idle();
  EXPECT_TRUE(starter.begun);
}

}  // namespace
}  // namespace trainyard::testing
