// SPDX-License-Identifier: Apache-2.0
#include "collectives/caller_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "collectives/testing/pretended.h"
#include "core/testing/error_of.h"

namespace trainyard::collectives {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using trainyard::testing::error_of;
using trainyard::testing::pretended_backend;
using trainyard::testing::PretendedOthers;

/// Makes drivers for a group of two members, of which the test simulates the second.
class CallerDriverTest : public ::testing::Test {
 protected:
  CallerDriver driver_of(PretendedOthers& others, std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    return {"here",
            std::make_unique<Engine>(Engine::Settings{.group = "world", .ranks = {0, 1}, .own = 0, .timeout = timeout},
                                     pretended_backend(others))};
  }

  Operation reduction() {
    Operation operation;
    operation.request = {.kind = OperationKind::kAllReduce, .dtype = DType::kFloat32, .count = data_.size()};
    operation.data = {data_.data(), DType::kFloat32, data_.size()};
    operation.bounds = {0, data_.size(), data_.size()};
    return operation;
  }

  std::vector<float> data_ = std::vector<float>(4);
};

TEST_F(CallerDriverTest, OperationsMoveOnTheThreadOfTheCallerAndOnlyDuringItsCalls) {
  std::vector<std::thread::id> moved;
  PretendedOthers others{.move = [&](const Operation&) { moved.push_back(std::this_thread::get_id()); }};
  CallerDriver driver = driver_of(others);
  const std::uint64_t number = driver.ask(reduction());
  EXPECT_TRUE(moved.empty());
  driver.wait(number);
  EXPECT_EQ(moved, std::vector{std::this_thread::get_id()});
  EXPECT_TRUE(driver.done(number));
}

TEST_F(CallerDriverTest, AskingWhetherAnOperationIsDoneAndProgressMoveIt) {
  PretendedOthers others;
  CallerDriver driver = driver_of(others);
  const std::uint64_t first = driver.ask(reduction());
  while (!driver.done(first)) {
  }
  const std::uint64_t second = driver.ask(reduction());
  EXPECT_GT(second, first);
  for (int i = 0; i < 10; ++i) driver.progress();
  EXPECT_TRUE(driver.done(second));
}

TEST_F(CallerDriverTest, AMemberThatDoesNotComeIsNamedWhenItsTimeIsOver) {
  PretendedOthers others{.come = false};
  CallerDriver driver = driver_of(others, std::chrono::milliseconds(100));
  const std::uint64_t number = driver.ask(reduction());
  const auto [code, text] = error_of([&] { driver.wait(number); });
  EXPECT_EQ(code, Code::kTimeout);
  EXPECT_THAT(text, HasSubstr("here: "));
  EXPECT_THAT(text, HasSubstr("rank 1"));
}

TEST_F(CallerDriverTest, AfterAFailureEveryCallThrowsItAndNothingIsWaitedFor) {
  PretendedOthers others;
  CallerDriver driver = driver_of(others);
  const std::uint64_t number = driver.ask(reduction());
  driver.abort("its step threw");
  EXPECT_TRUE(driver.done(number)) << "it will never be finished";
  EXPECT_EQ(error_of([&] { driver.wait(number); }).first, Code::kPeerLost);
  EXPECT_EQ(error_of([&] { driver.progress(); }).first, Code::kPeerLost);
  EXPECT_EQ(error_of([&] { driver.ask(reduction()); }).first, Code::kPeerLost);
  ASSERT_EQ(others.were_told.size(), 1u);
  EXPECT_THAT(others.were_told.front().text, HasSubstr("its step threw"));
}

TEST_F(CallerDriverTest, WhatAnotherMemberReportsIsThrownAtOnce) {
  PretendedOthers others{.come = false, .tell = Failure{Code::kPeerLost, "rank 1 gave up"}};
  CallerDriver driver = driver_of(others);
  const std::uint64_t number = driver.ask(reduction());
  EXPECT_THAT(error_of([&] { driver.wait(number); }), Pair(Code::kPeerLost, HasSubstr("rank 1 gave up")));
}

}  // namespace
}  // namespace trainyard::collectives
