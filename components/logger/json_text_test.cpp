// SPDX-License-Identifier: Apache-2.0
#include "components/logger/json_text.h"

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

TEST(JsonTextTest, JsonStringsReadBack) {
  for (const char* text : {"loss", "a \"quoted\" \\ text", "line\nfeed\ttab", "caf\xc3\xa9"}) {
    EXPECT_EQ(nlohmann::json::parse(json_string(text)).get<std::string>(), text);
  }
}

TEST(JsonTextTest, BytesThatAreNoUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ(nlohmann::json::parse(json_string("a\xff")).get<std::string>(), "a\xef\xbf\xbd");
}

TEST(JsonTextTest, JsonNumbersThatAreNotFiniteAreNull) {
  std::string out;
  append_json_number(out, std::numeric_limits<double>::quiet_NaN());
  append_json_number(out, 0.1);
  EXPECT_EQ(out, "null0.1");
}

}  // namespace
}  // namespace trainyard
