// SPDX-License-Identifier: Apache-2.0
#include "components/my_component/my_component.h"

#include <gtest/gtest.h>

#include "core/testing/rig.h"

namespace example {
namespace {

TEST(MyComponentTest, SendsTheMeanOfTheLastLosses) {
  trainyard::testing::Rig rig;  // Runs the component without a launch.
  rig.add<MyComponent>("my_component", R"({"window": 2})");
  rig.start();
  for (const double loss : {1.0, 3.0, 10.0}) {
    rig.send("/metrics", trainyard::Metrics{.step = 1, .stage = "train", .values = {{.name = "loss", .value = loss}}});
  }
  rig.run_until_idle();
  const auto sent = rig.received<trainyard::Metrics>("/metrics");
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0]->stage, "mean");
  EXPECT_EQ(sent[0]->values.at(0).value, 2.0);
  rig.stop();
}

}  // namespace
}  // namespace example
