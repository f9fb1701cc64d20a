// SPDX-License-Identifier: Apache-2.0
#include "collectives/blame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

namespace trainyard::collectives {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Members that give the answers that the test sets.
class Answers final : public Attendance {
 public:
  Presence presence(std::uint32_t) override { return Presence::kHere; }
  std::uint64_t signs(std::uint32_t) const override { return 0; }
  void show(const Answer&) override {}
  void probe() override { ++probes; }
  std::optional<Answer> answer(std::uint32_t member) const override {
    const auto found = answers.find(member);
    return found == answers.end() ? std::nullopt : std::optional(found->second);
  }

  std::map<std::uint32_t, Answer> answers;
  int probes = 0;
};

constexpr Answer kBusy{.waits = false, .waits_for = {}};

Answer waits_for(std::uint32_t member) { return {.waits = true, .waits_for = member}; }

class BlameTest : public ::testing::Test {
 protected:
  /// Calls look() until it returns the members to blame.
  std::vector<std::uint32_t> verdict(const std::vector<std::uint32_t>& candidates) {
    Blame blame(answers_, 0, 4, 1ms);
    for (const auto until = Blame::Clock::now() + 30s; Blame::Clock::now() < until; std::this_thread::yield()) {
      const auto members = blame.look({1, 1, 0}, candidates);
      if (!members.empty()) return members;
    }
    return {};
  }

  Answers answers_;
};

TEST_F(BlameTest, AMemberThatHasNotComeIsToBlame) {
  answers_.answers = {{1, kBusy}, {2, waits_for(1)}, {3, waits_for(1)}};
  EXPECT_THAT(verdict({1}), ElementsAre(1));
}

TEST_F(BlameTest, NobodyIsToBlameForTheTimeInWhichThisProcessWasStopped) {
  answers_.answers = {{1, kBusy}};
  Blame blame(answers_, 0, 2, 60s);
  const auto start = Blame::Clock::now();
  EXPECT_THAT(blame.look({1, 1, 0}, {1}, start), IsEmpty());
  EXPECT_THAT(blame.look({1, 1, 0}, {1}, start + 1h), IsEmpty()) << "it was stopped for an hour";
  std::vector<std::uint32_t> blamed;
  auto now = start + 1h;
  for (; blamed.empty() && now < start + 2h; now += 50ms) blamed = blame.look({1, 1, 0}, {1}, now);
  EXPECT_THAT(blamed, ElementsAre(1));
  EXPECT_GT(now, start + 1h + 59s);
}

TEST_F(BlameTest, AMemberThatWaitsForAnotherOneIsNot) {
  answers_.answers = {{1, waits_for(2)}, {2, waits_for(3)}};
  EXPECT_THAT(verdict({1}), ElementsAre(3)) << "it does not answer";
}

TEST_F(BlameTest, AMemberThatDoesNotAnswerIsToBlameBeforeOneThatIsBusy) {
  answers_.answers = {{1, kBusy}};
  EXPECT_THAT(verdict({1, 2}), ElementsAre(2));
}

TEST_F(BlameTest, InACircleThoseThatAreWaitedForAreNamed) {
  answers_.answers = {{1, waits_for(0)}};
  EXPECT_THAT(verdict({1}), ElementsAre(1));
}

TEST_F(BlameTest, AMemberThatCannotTellForWhomItWaitsLeavesTheBlameToTheOthers) {
  answers_.answers = {{1, {.waits = true, .waits_for = {}}}, {2, {.waits = true, .waits_for = {}}}};
  EXPECT_THAT(verdict({1, 2, 3}), ElementsAre(3));
}

TEST_F(BlameTest, WhoeverShowsThatItGoesOnHasTheWholeTimeoutAgain) {
  Blame blame(answers_, 0, 4, 1h);
  EXPECT_THAT(blame.look({1, 1, 0}, {1}), IsEmpty());
  EXPECT_THAT(blame.look({1, 1, 1}, {1}), IsEmpty());
  EXPECT_EQ(answers_.probes, 0) << "nobody is asked long before the timeout";
}

}  // namespace
}  // namespace trainyard::collectives
