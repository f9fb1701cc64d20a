// SPDX-License-Identifier: Apache-2.0
#include "core/component/state_port.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/testing/rig.h"
#include "messages/limits.h"
#include "messages/message_type.h"
#include "messages/metrics.h"

namespace trainyard {
namespace {

/// A component that counts the metrics that it has received. In a resumed run, it must continue with the saved number.
class Counter final : public Component {
 public:
  explicit Counter(ComponentContext& context) : Component(context) {}

  std::uint64_t seen = 0;

 private:
  Input<Metrics> metrics_{*this, "metrics", "anything", [this](const auto&) { ++seen; }, {.topic = "/metrics"}};
  StatePort state_{*this, [this](StateWriter& into) { into.set("seen", seen); },
                   [this](const StateReader& from) { seen = from.count("seen"); }};
};

TEST(StatePortTest, AComponentGivesItsStateWhenACheckpointIsMade) {
  testing::Rig rig;
  rig.world().rank = 1;
  Counter& counter = rig.add<Counter>("rank1/counter");
  rig.start();
  rig.send("/metrics", Metrics{});
  rig.send("/metrics", Metrics{});
  rig.send("/state_request", StateRequest{.order = 9, .step = 4});
  rig.run_until_idle();
  const auto answers = rig.received<StateAnswer>("/states");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0]->order, 9u);
  EXPECT_EQ(answers[0]->component, "rank1/counter");
  EXPECT_EQ(answers[0]->states.at(0).owner, "counter") << "without the rank, which may be another after a resume";
  EXPECT_EQ(answers[0]->states.at(0).values, R"({"seen":2})");
  EXPECT_EQ(counter.seen, 2u);
}

TEST(StatePortTest, AComponentTakesItsStateBackAndSaysSo) {
  testing::Rig rig;
  Counter& counter = rig.add<Counter>("counter");
  rig.start();
  rig.send("/restored_states",
           RestoredStates{.path = "c", .ranks = 1, .states = {{.owner = "counter", .values = R"({"seen": 5})"}}});
  rig.run_until_idle();
  EXPECT_EQ(counter.seen, 5u);
  const auto taken = rig.received<StatesTaken>("/states_taken");
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0]->component, "counter");
  EXPECT_EQ(taken[0]->owners, std::vector<std::string>{"counter"});
}

/// A component with more tensors than a message may have buffers.
class ManyTensors final : public Component {
 public:
  explicit ManyTensors(ComponentContext& context) : Component(context) {}

 private:
  StatePort state_{*this,
                   [](StateWriter& into) {
                     for (int i = 0; i < 200; ++i) into.set(std::to_string(i), Tensor::empty(DType::kInt32, {3}));
                   },
                   [](const StateReader&) {}};
};

TEST(StatePortTest, TheStateOfAComponentMayHaveManyTensors) {
  testing::Rig rig;
  rig.add<ManyTensors>("many");
  rig.start();
  rig.send("/state_request", StateRequest{.order = 9, .step = 4});
  rig.run_until_idle();
  std::string body;
  std::vector<Buffer> payloads;
  encode(*rig.received<StateAnswer>("/states").at(0), body, payloads);
  EXPECT_LE(payloads.size(), kMaxPayloads);
}

TEST(StatePortTest, AComponentThatTheCheckpointDoesNotKnowBeginsAnewAndSaysThatItIsReady) {
  testing::Rig rig;
  Counter& counter = rig.add<Counter>("counter");
  rig.start();
  rig.send("/restored_states", RestoredStates{.path = "c"});
  rig.run_until_idle();
  EXPECT_EQ(counter.seen, 0u);
  EXPECT_EQ(rig.received<StatesTaken>("/states_taken").size(), 1u);
}

}  // namespace
}  // namespace trainyard
