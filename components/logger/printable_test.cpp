// SPDX-License-Identifier: Apache-2.0
#include "components/logger/printable.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace trainyard {
namespace {

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(PrintableTest, TakesAwayWhatSteersATerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\rc\x7f"), "a?[2Jb?c?");
  EXPECT_EQ(printable("caf\xc3\xa9\n\tx"), "caf\xc3\xa9\n\tx");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "2J"),
            "a??2J");
}

TEST(PrintableTest, JsonStringsReadBack) {
  for (const char* text : {"loss", "a \"quoted\" \\ text", "line\nfeed\ttab", "caf\xc3\xa9"}) {
    EXPECT_EQ(nlohmann::json::parse(json_string(text)).get<std::string>(), text);
  }
}

TEST(PrintableTest, BytesThatAreNoUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ(nlohmann::json::parse(json_string("a\xff")).get<std::string>(), "a\xef\xbf\xbd");
}

TEST(PrintableTest, JsonNumbersThatAreNotFiniteAreNull) {
  std::string out;
  append_json_number(out, std::numeric_limits<double>::quiet_NaN());
  append_json_number(out, 0.1);
  EXPECT_EQ(out, "null0.1");
}

}  // namespace
}  // namespace trainyard
