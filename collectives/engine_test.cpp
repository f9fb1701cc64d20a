// SPDX-License-Identifier: Apache-2.0
#include "collectives/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/testing/pretended.h"

namespace trainyard::collectives {
namespace {

using ::testing::HasSubstr;
using trainyard::testing::pretended_backend;
using trainyard::testing::PretendedOthers;

Operation operation_on(OperationKind kind, std::span<float> data) {
  Operation operation;
  operation.request = {.kind = kind, .dtype = DType::kFloat32, .member = 1, .count = data.size()};
  operation.data = {data.data(), DType::kFloat32, data.size()};
  operation.bounds = {0, data.size(), data.size()};
  return operation;
}

class EngineTest : public ::testing::Test {
 protected:
  std::string failure() {
    return engine_.failure() ? std::string(name_of(engine_.failure()->code)) + ": " + engine_.failure()->text : "none";
  }

  std::vector<float> data_ = std::vector<float>(4);
  PretendedOthers others_;
  Engine engine_{{.group = "world", .ranks = {3, 7}, .own = 0, .timeout = std::chrono::milliseconds(1)},
                 pretended_backend(others_)};
};

TEST_F(EngineTest, NothingMovesBeforeAllHaveCome) {
  int moved = 0;
  others_.move = [&](const Operation&) { ++moved; };
  others_.come = false;
  engine_.take(operation_on(OperationKind::kAllReduce, data_));
  EXPECT_FALSE(engine_.advance(Effort::kEverything));
  EXPECT_FALSE(engine_.finished(1));
  others_.come = true;
  EXPECT_TRUE(engine_.advance(Effort::kEverything));
  EXPECT_TRUE(engine_.finished(1));
  EXPECT_EQ(moved, 1);
  EXPECT_TRUE(engine_.idle());
}

TEST_F(EngineTest, ADisagreementNamesBothSidesAndIsTold) {
  others_.ask_for = Request{.kind = OperationKind::kAllReduce, .dtype = DType::kFloat32, .count = 5};
  engine_.take(operation_on(OperationKind::kBroadcast, data_));
  engine_.advance(Effort::kEverything);
  EXPECT_EQ(
      failure(),
      "shape mismatch: operation 1 of group 'world': rank 3 asked for broadcast from rank 7 of float32[4], rank 7 for "
      "all_reduce(sum) of float32[5]");
  ASSERT_EQ(others_.were_told.size(), 1u);
  EXPECT_EQ(others_.were_told[0].text, engine_.failure()->text);
}

TEST_F(EngineTest, AMemberThatIsGoneIsNamedWithTheOperation) {
  others_.come = false;
  others_.presence = Presence::kLost;
  engine_.take(operation_on(OperationKind::kAllReduce, data_));
  engine_.look({});
  EXPECT_EQ(failure(),
            "peer lost: rank 7 is gone (its process ended or was killed) before operation 1 of group 'world', "
            "all_reduce(sum) of float32[4] was finished");
}

TEST_F(EngineTest, AMemberThatLeftAfterItsLastOperationIsNotMissed) {
  others_.presence = Presence::kLeft;
  engine_.take(operation_on(OperationKind::kAllReduce, data_));
  engine_.look({});
  EXPECT_EQ(failure(), "none");
}

TEST_F(EngineTest, WhatOthersTellIsNotToldAgain) {
  others_.come = false;
  others_.tell = Failure{Code::kTimeout, "rank 9 is silent"};
  engine_.take(operation_on(OperationKind::kAllReduce, data_));
  engine_.look_for_news();
  EXPECT_EQ(failure(), "timeout: rank 9 is silent");
  EXPECT_TRUE(others_.were_told.empty());
}

TEST_F(EngineTest, ASilentMemberIsNamedWhenTheTimeIsOver) {
  others_.come = false;
  engine_.take(operation_on(OperationKind::kAllReduce, data_));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!engine_.failure() && std::chrono::steady_clock::now() < until) engine_.look(1);
  EXPECT_THAT(failure(), HasSubstr("timeout: rank 7 did not come to operation 1 of group 'world', all_reduce(sum)"));
}

TEST_F(EngineTest, WhatATransferThrowsEndsTheGroup) {
  others_.move = [](const Operation&) { throw Error(Code::kCorrupt, "half of it is missing"); };
  engine_.take(operation_on(OperationKind::kRecv, data_));
  engine_.advance(Effort::kEverything);
  EXPECT_EQ(failure(), "corrupt: half of it is missing");
  engine_.take(operation_on(OperationKind::kAllReduce, data_));
  EXPECT_FALSE(engine_.advance(Effort::kEverything));
  EXPECT_FALSE(engine_.finished(2));
}

}  // namespace
}  // namespace trainyard::collectives
