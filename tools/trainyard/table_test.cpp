// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/table.h"

#include <gtest/gtest.h>

namespace trainyard::tools {
namespace {

TEST(TableTest, AlignsColumnsWithoutSpacesAtTheEnd) {
  Table table({"name", "value"});
  table.add({"a", "1"});
  table.add({"longer", ""});
  EXPECT_EQ(table.text(), "name    value\na       1\nlonger\n");
}

TEST(TableTest, TheLastColumnGoesOnBelowItself) {
  Table table({"name", "meaning"});
  table.add({"lr", "the base learning rate of all parameters"});
  EXPECT_EQ(table.text(false, 24), "name  meaning\nlr    the base learning\n      rate of all\n      parameters\n");
  EXPECT_EQ(table.text(false, 12), table.text()) << "too narrow for anything better";
}

TEST(TableTest, ACellCanNeitherSteerTheTerminalNorLeaveItsLine) {
  Table table({"name"});
  table.add({"\033[2Ja\nb"});
  EXPECT_EQ(table.text(), "name\n?[2Ja?b\n");
}

TEST(TableTest, ColoursTheHeadingAlone) {
  Table table({"name"});
  EXPECT_TRUE(table.empty());
  table.add({"a"});
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.text(true), "\033[1mname\033[0m\na\n");
}

}  // namespace
}  // namespace trainyard::tools
