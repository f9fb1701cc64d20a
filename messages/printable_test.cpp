// SPDX-License-Identifier: Apache-2.0
#include "messages/printable.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(PrintableTest, TakesAwayWhatSteersATerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\rc\x7f"), "a?[2Jb?c?");
  EXPECT_EQ(printable("caf\xc3\xa9\n\tx"), "caf\xc3\xa9\n\tx");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "2J"),
            "a??2J");
}

TEST(PrintableTest, ANameStaysOnItsLine) { EXPECT_EQ(printable_line("a\nb\tc\x1b[0m"), "a?b?c?[0m"); }

}  // namespace
}  // namespace trainyard
