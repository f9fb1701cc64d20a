// SPDX-License-Identifier: Apache-2.0
#include "launch/run/poll_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/run/call_table.h"
#include "launch/run/file_descriptor.h"
#include "launch/run/testing/launched_run.h"

namespace trainyard::launch {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PollLoopTest, ServesTimersInTheOrderOfTheirTimes) {
  PollLoop loop;
  std::vector<int> fired;
  loop.after(milliseconds(20), [&] {
    fired.push_back(2);
    loop.quit();
  });
  loop.after(milliseconds(1), [&] { fired.push_back(1); });
  loop.run();
  EXPECT_THAT(fired, ElementsAre(1, 2));
}

// Runs in a child process, which the test stops for a while. Exits with 0 if the clock of the loop did not advance
// during that time.
[[noreturn]] void run_until_told(int file, int ready) {
  PollLoop loop;
  const auto start = loop.now();
  loop.watch_file(file, [&] { ::_exit(loop.now() - start < milliseconds(3000) ? 0 : 1); });
  loop.after(milliseconds(0), [ready] { [[maybe_unused]] const auto wrote = ::write(ready, "x", 1); });
  loop.run();
  ::_exit(2);
}

TEST(PollLoopTest, TheTimeInWhichTheProcessWasStoppedDoesNotCount) {
  Pipe pipe = make_pipe();
  Pipe ready = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) run_until_told(pipe.reader.get(), ready.writer.get());
  char byte = 0;
  ASSERT_EQ(::read(ready.reader.get(), &byte, 1), 1);
  ::kill(child, SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  const auto until = std::chrono::steady_clock::now() + milliseconds(4000);
  ASSERT_TRUE(testing::eventually([&] { return std::chrono::steady_clock::now() > until; }));
  ::kill(child, SIGCONT);
  ASSERT_EQ(::write(pipe.writer.get(), "x", 1), 1);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(PollLoopTest, DoesNotCallWhatAnEarlierCallbackOfTheSameRoundCancelled) {
  PollLoop loop;
  Pipe pipe = make_pipe();
  ASSERT_EQ(::write(pipe.writer.get(), "x", 1), 1);
  int calls = 0;
  PollLoop::Id first = 0, second = 0;
  first = loop.watch_file(pipe.reader.get(), [&] {
    ++calls;
    loop.cancel(first);
    loop.cancel(second);
  });
  second = loop.watch_file(pipe.reader.get(), [&] { ++calls; });
  loop.run_once(milliseconds(1000));
  EXPECT_EQ(calls, 1);
}

TEST(PollLoopTest, WakesAtTheEndOfAFile) {
  PollLoop loop;
  Pipe pipe = make_pipe();
  pipe.writer.reset();
  bool ended = false;
  loop.watch_file(pipe.reader.get(), [&] {
    ended = true;
    loop.quit();
  });
  loop.run();
  EXPECT_TRUE(ended);
}

class CallTableTest : public ::testing::Test {
 protected:
  CallTable::Answer keep() {
    return [this](bool ok, const std::string& body) {
      ++answers_;
      ok_ = ok;
      body_ = body;
    };
  }

  PollLoop loop_;
  CallTable calls_{loop_};
  int answers_ = 0;
  bool ok_ = false;
  std::string body_;
};

TEST_F(CallTableTest, GivesTheAnswerToTheOneWhoAskedOnce) {
  const std::uint64_t id = calls_.open("p", "stop", milliseconds(10'000), keep());
  calls_.answered(id, true, "{}");
  calls_.answered(id, true, "again");
  EXPECT_EQ(answers_, 1);
  EXPECT_TRUE(ok_);
  EXPECT_EQ(body_, "{}");
}

TEST_F(CallTableTest, FailsAtTheDeadline) {
  calls_.open("p", "'stop' of component 'c'", milliseconds(1), keep());
  while (answers_ == 0) loop_.run_once(milliseconds(100));
  EXPECT_FALSE(ok_);
  EXPECT_EQ(body_, "'stop' of component 'c': no answer from process 'p' within 0.001 s");
}

TEST_F(CallTableTest, FailsWithTheProcessThatWasAsked) {
  calls_.open("p", "stop", milliseconds(10'000), keep());
  calls_.process_gone("q");
  EXPECT_EQ(answers_, 0);
  calls_.process_gone("p");
  EXPECT_EQ(body_, "stop: process 'p' is gone");
}

}  // namespace
}  // namespace trainyard::launch
