// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/toml_text.h"

#include <gtest/gtest.h>

#include "launch/file/toml_reader.h"
#include "messages/error.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

TEST(TomlTextTest, WritesEveryValueSoThatATomlReaderReadsItBack) {
  for (const char* text :
       {"true", "-12", "0.1", "1e-05", "1e300", "3.0", "\"\"", R"("a \"b\" \\ \n \u0001 ä")", "[]", "[1, 2]",
        R"([["a"], []])", R"({})", R"({"plugin": "cosine", "warm up": [1.5], "x": {"y": 1}})"}) {
    const json value = json::parse(text);
    const launch::Value read = launch::read_toml("value = " + toml_value(value), "test.toml");
    EXPECT_EQ(launch::to_json(*read.find("value")), value) << toml_value(value);
  }
  EXPECT_EQ(toml_value("a\x7f"), "\"a\\u007f\"");
  EXPECT_EQ(toml_value(json::parse(R"({"a": null, "b": 1})")), "{ b = 1 }");
  EXPECT_THROW(toml_value(json()), Error);
}

TEST(TomlTextTest, QuotesOnlyKeysThatNeedIt) {
  EXPECT_EQ(toml_key("batch_size-2"), "batch_size-2");
  EXPECT_EQ(toml_key("eval/probe"), "\"eval/probe\"");
  EXPECT_EQ(toml_key(""), "\"\"");
}

}  // namespace
}  // namespace trainyard::tools
