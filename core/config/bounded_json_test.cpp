// SPDX-License-Identifier: Apache-2.0
#include "core/config/bounded_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace trainyard {
namespace {

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(BoundedJsonTest, ReadsWhatIsJson) {
  EXPECT_EQ(parse_bounded_json(R"({"a": [1, {"b": "}]"}]})")->dump(), R"({"a":[1,{"b":"}]"}]})");
}

TEST(BoundedJsonTest, TheDeepestNestingThatIsAllowedIsRead) {
  EXPECT_TRUE(parse_bounded_json(nested(kMaxJsonDepth)));
  EXPECT_FALSE(parse_bounded_json(nested(kMaxJsonDepth + 1)));
}

TEST(BoundedJsonTest, BracketsSideBySideDoNotCountAsDepth) {
  std::string many = "[";
  for (int i = 0; i < 1000; ++i) many += "[{}],";
  EXPECT_EQ(parse_bounded_json(many + "1]")->size(), 1001u);
}

TEST(BoundedJsonTest, ATextOfBracketsAloneIsRefused) {
  EXPECT_FALSE(parse_bounded_json(nested(120'000)));
  EXPECT_FALSE(parse_bounded_json(std::string(120'000, '{')));
}

TEST(BoundedJsonTest, BrokenTextIsRefused) {
  for (const char* broken : {"", "{", "[1,]", "nul", "{\"a\" 1}", "1 2"})
    EXPECT_FALSE(parse_bounded_json(broken)) << broken;
}

}  // namespace
}  // namespace trainyard
