// SPDX-License-Identifier: Apache-2.0
#include "launch/run/process_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace trainyard::launch::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Tests in which the test itself prints to the two pipes, like a process.
class ProcessOutputTest : public ::testing::Test {
 protected:
  ProcessOutputTest() { open(); }

  void open() {
    Pipe out = make_pipe();
    Pipe err = make_pipe();
    for (const Pipe* pipe : {&out, &err}) ::fcntl(pipe->reader.get(), F_SETFL, O_NONBLOCK);
    output_.open(std::move(out.reader), std::move(err.reader));
    out_ = std::move(out.writer);
    err_ = std::move(err.writer);
  }

  static void print(const FileDescriptor& stream, const std::string& text) {
    ASSERT_EQ(::write(stream.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  PollLoop loop_;
  std::vector<std::string> lines_;
  ProcessOutput output_{loop_, [this](std::string_view line, bool from_stderr) {
                          lines_.push_back((from_stderr ? "! " : "") + std::string(line));
                        }};
  FileDescriptor out_;
  FileDescriptor err_;
};

TEST_F(ProcessOutputTest, LinesComeWhileTheLoopRuns) {
  print(out_, "one\ntw");
  loop_.run_once(std::chrono::seconds(20));
  EXPECT_THAT(lines_, ElementsAre("one"));
  print(out_, "o\n");
  loop_.run_once(std::chrono::seconds(20));
  EXPECT_THAT(lines_, ElementsAre("one", "two"));
}

TEST_F(ProcessOutputTest, TheLastWordsCanBeReadWithoutTheLoop) {
  print(err_, "out of memory\n");
  EXPECT_THAT(lines_, IsEmpty());
  output_.read_now();
  EXPECT_THAT(lines_, ElementsAre("! out of memory"));
  EXPECT_THAT(output_.last_lines(), ElementsAre("out of memory"));
}

TEST_F(ProcessOutputTest, ClosingTakesTheRestAndTheEndOfAStreamEndsItsLastLine) {
  print(out_, "rest\nunfinished");
  out_.reset();
  output_.close();
  EXPECT_THAT(lines_, ElementsAre("rest", "unfinished"));
}

TEST_F(ProcessOutputTest, LastLinesOutliveARestart) {
  print(out_, "first life\n");
  output_.close();
  output_.read_now();
  open();
  print(err_, "second life\n");
  output_.close();
  EXPECT_THAT(lines_, ElementsAre("first life", "! second life"));
  EXPECT_THAT(output_.last_lines(), ElementsAre("first life", "second life"));
}

}  // namespace
}  // namespace trainyard::launch::testing
