// SPDX-License-Identifier: Apache-2.0
#include "core/process/plan_view.h"

#include <gtest/gtest.h>

namespace trainyard::core {
namespace {

PlanView view_of_a() {
  ProcessPlan plan;
  plan.run_directory = "/run/mnist";
  plan.bind["data"] = "tcp://127.0.0.1:5000";
  plan.components = {{.index = 0, .name = "loader", .process = "rank0/a"},
                     {.index = 1, .name = "host", .process = "b"}};
  return PlanView(std::move(plan), "rank0/a");
}

TEST(PlanViewTest, TellsItsOwnComponentsFromThoseOfOthers) {
  EXPECT_TRUE(view_of_a().is_mine(0));
  EXPECT_FALSE(view_of_a().is_mine(1));
  EXPECT_EQ(view_of_a().component(1).name, "host");
}

TEST(PlanViewTest, TakesTheAddressThatThePlanGives) {
  EXPECT_EQ(view_of_a().address_of("data"), "tcp://127.0.0.1:5000");
}

TEST(PlanViewTest, PutsEveryOtherSocketIntoTheRunsDirectoryUnderAPlainName) {
  EXPECT_EQ(view_of_a().address_of("gateway"), "ipc:///run/mnist/rank0~a.gateway");
}

}  // namespace
}  // namespace trainyard::core
