// SPDX-License-Identifier: Apache-2.0
#include "collectives/thread_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "collectives/testing/pretended.h"
#include "core/testing/error_of.h"

namespace trainyard::collectives {
namespace {

using ::testing::Pair;
using trainyard::testing::error_of;
using trainyard::testing::pretended_backend;
using trainyard::testing::PretendedOthers;

Operation barrier() {
  Operation operation;
  operation.bounds = {0, 0, 0};
  return operation;
}

Operation reduction(std::span<float> data) {
  Operation operation;
  operation.request = {.kind = OperationKind::kAllReduce, .dtype = DType::kFloat32, .count = data.size()};
  operation.data = {data.data(), DType::kFloat32, data.size()};
  operation.bounds = {0, data.size(), data.size()};
  return operation;
}

std::unique_ptr<Engine> engine_of(PretendedOthers& others) {
  Backend backend = pretended_backend(others);
  backend.thread = Thread::kOwn;
  return std::make_unique<Engine>(
      Engine::Settings{.group = "world", .ranks = {0, 1}, .own = 0, .timeout = std::chrono::seconds(60)},
      std::move(backend));
}

TEST(ThreadDriverTest, OperationsGoOnWhileTheirCallerDoesSomethingElse) {
  std::promise<std::thread::id> moved;
  PretendedOthers others{.move = [&](const Operation&) { moved.set_value(std::this_thread::get_id()); }};
  std::vector<float> data(4);
  ThreadDriver driver("here", engine_of(others));
  const std::uint64_t number = driver.ask(reduction(data));
  EXPECT_NE(moved.get_future().get(), std::this_thread::get_id());
  driver.wait(number);
  EXPECT_TRUE(driver.done(number));
}

TEST(ThreadDriverTest, WhatTheThreadFindsIsThrownToTheCaller) {
  PretendedOthers others{.move = [](const Operation&) { throw Error(Code::kCorrupt, "half is missing"); }};
  std::vector<float> data(4);
  ThreadDriver driver("here", engine_of(others));
  const std::uint64_t first = driver.ask(barrier());
  const std::uint64_t second = driver.ask(reduction(data));
  driver.wait(first);
  EXPECT_THAT(error_of([&] { driver.wait(second); }), Pair(Code::kCorrupt, "here: half is missing"));
  EXPECT_TRUE(driver.done(second)) << "it would throw at once";
  EXPECT_THAT(error_of([&] { driver.ask(barrier()); }), Pair(Code::kCorrupt, "here: half is missing"));
}

TEST(ThreadDriverTest, AMemberThatGivesUpHasToldTheOthersWhenItReturns) {
  PretendedOthers others{.come = false};
  ThreadDriver driver("here", engine_of(others));
  const std::uint64_t number = driver.ask(barrier());
  driver.abort("enough");
  ASSERT_EQ(others.were_told.size(), 1u);
  EXPECT_THAT(error_of([&] { driver.wait(number); }),
              Pair(Code::kPeerLost, "here: rank 0 gave up group 'world': enough"));
}

TEST(ThreadDriverTest, WhatIsUnderWayIsGivenUpAtTheEnd) {
  PretendedOthers others{.come = false};
  ThreadDriver driver("here", engine_of(others));
  EXPECT_FALSE(driver.done(driver.ask(barrier())));
}

}  // namespace
}  // namespace trainyard::collectives
