// SPDX-License-Identifier: Apache-2.0
#include "launch/file/condition.h"

#include <gtest/gtest.h>

#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

bool text_holds(const std::string& text) { return holds(Value{text, {"a.toml", 3}}, "component.a.when"); }

TEST(ConditionTest, TakesFlags) {
  EXPECT_TRUE(holds(Value{true, {}}, "when"));
  EXPECT_FALSE(holds(Value{false, {}}, "when"));
  EXPECT_TRUE(text_holds("true"));
  EXPECT_FALSE(text_holds(" false "));
}

TEST(ConditionTest, ComparesAsText) {
  EXPECT_TRUE(text_holds("cuda == cuda"));
  EXPECT_FALSE(text_holds("cuda == cpu"));
  EXPECT_TRUE(text_holds("cuda!=cpu"));
  EXPECT_FALSE(text_holds(" 2 != 2 "));
  EXPECT_TRUE(text_holds(" == "));
}

TEST(ConditionTest, RefusesEverythingElse) {
  const std::string allowed = " is not allowed; true, false, \"a == b\" or \"a != b\"";
  EXPECT_EQ(testing::error_of([] { text_holds("maybe"); }), "a.toml:3: component.a.when: \"maybe\"" + allowed);
  EXPECT_EQ(testing::error_of([] {
              holds(Value{std::int64_t{1}, {"a.toml", 4}}, "when");
            }),
            "a.toml:4: when: 1" + allowed);
}

}  // namespace
}  // namespace trainyard::launch
