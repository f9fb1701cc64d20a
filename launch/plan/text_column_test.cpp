// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/text_column.h"

#include <gtest/gtest.h>

namespace trainyard::launch {
namespace {

std::string one_line(std::size_t indent, const std::string& text) {
  TextColumn column;
  column.line(indent, text);
  return column.text();
}

TEST(TextColumnTest, IndentsLines) { EXPECT_EQ(one_line(2, "a b"), "  a b\n"); }

TEST(TextColumnTest, AnEmptyLineHasNoSpaces) { EXPECT_EQ(one_line(4, ""), "\n"); }

TEST(TextColumnTest, BreaksAtASpace) {
  const std::string word(50, 'x');
  EXPECT_EQ(one_line(2, word + " " + word), "  " + word + "\n      " + word + "\n");
}

TEST(TextColumnTest, FillsExactlyTheWidth) {
  EXPECT_EQ(one_line(0, std::string(80, 'x')), std::string(80, 'x') + "\n");
  EXPECT_EQ(one_line(0, std::string(79, 'x') + " y"), std::string(79, 'x') + "\n    y\n");
}

TEST(TextColumnTest, CutsAWordThatIsTooLong) {
  EXPECT_EQ(one_line(0, std::string(100, 'x')), std::string(80, 'x') + "\n    " + std::string(20, 'x') + "\n");
}

TEST(TextColumnTest, DoesNotCutThroughACharacter) {
  const std::string text = std::string(79, 'x') + "ä" + "y";
  EXPECT_EQ(one_line(0, text), std::string(79, 'x') + "\n    äy\n");
}

}  // namespace
}  // namespace trainyard::launch
