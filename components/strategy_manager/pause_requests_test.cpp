// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/pause_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trainyard::manager {
namespace {

using ::testing::ElementsAre;

TEST(PauseRequestsTest, EverybodyIsAnsweredOnce) {
  PauseRequests requests;
  std::vector<std::string> answers;
  const auto record = [&](const RunReply& reply) { answers.push_back(reply.text); };
  requests.add(record);
  requests.add(record);
  requests.answer_all({"resting after step 3"});
  requests.answer_all({"resting after step 4"});
  EXPECT_THAT(answers, ElementsAre("resting after step 3", "resting after step 3"));
}

TEST(PauseRequestsTest, ThePauseLastsUntilEveryRequestIsEnded) {
  PauseRequests requests;
  EXPECT_FALSE(requests.any());
  requests.add([](const RunReply&) {});
  requests.add([](const RunReply&) {});
  requests.answer_all({});
  EXPECT_TRUE(requests.any()) << "an answer does not end the pause";
  EXPECT_FALSE(requests.end_one());
  EXPECT_TRUE(requests.any());
  EXPECT_TRUE(requests.end_one());
  EXPECT_FALSE(requests.any());
}

TEST(PauseRequestsTest, WhoAsksDuringAnAnswerWaitsForTheNext) {
  PauseRequests requests;
  int answers = 0;
  requests.add([&](const RunReply&) { requests.add([&](const RunReply&) { ++answers; }); });
  requests.answer_all({});
  EXPECT_EQ(answers, 0);
  requests.answer_all({});
  EXPECT_EQ(answers, 1);
}

}  // namespace
}  // namespace trainyard::manager
