// SPDX-License-Identifier: Apache-2.0
#include "launch/run/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace trainyard::launch {
namespace {

using ::testing::ElementsAre;

class LineSplitterTest : public ::testing::Test {
 protected:
  void feed(std::string_view bytes) { splitter_.feed(bytes, take_); }

  std::vector<std::string> lines_;
  LineSplitter::Take take_ = [this](std::string_view line) { lines_.emplace_back(line); };
  LineSplitter splitter_;
};

TEST_F(LineSplitterTest, JoinsALineThatComesInParts) {
  feed("on");
  feed("e\ntw");
  EXPECT_THAT(lines_, ElementsAre("one"));
  feed("o\n");
  EXPECT_THAT(lines_, ElementsAre("one", "two"));
}

TEST_F(LineSplitterTest, KeepsEmptyLinesAndDropsCarriageReturnsAtTheEnd) {
  feed("a\r\n\nb\n");
  EXPECT_THAT(lines_, ElementsAre("a", "", "b"));
}

TEST_F(LineSplitterTest, GivesTheUnfinishedLineAtTheEndOnce) {
  feed("no newline");
  EXPECT_THAT(lines_, ElementsAre());
  splitter_.finish(take_);
  splitter_.finish(take_);
  EXPECT_THAT(lines_, ElementsAre("no newline"));
}

TEST_F(LineSplitterTest, CutsALineThatDoesNotEnd) {
  for (int i = 0; i < 100; ++i) feed(std::string(1000, 'x'));
  ASSERT_FALSE(lines_.empty());
  for (const std::string& line : lines_) EXPECT_LE(line.size(), LineSplitter::kLongest + 1000);
}

TEST(LastLinesTest, KeepsTheNewest) {
  LastLines last(2);
  for (const char* line : {"a", "b", "c"}) last.add(line);
  EXPECT_THAT(last.lines(), ElementsAre("b", "c"));
}

}  // namespace
}  // namespace trainyard::launch
