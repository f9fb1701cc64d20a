// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/expression.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "launch/testing/expect_error.h"
#include "messages/error.h"

namespace trainyard::tools {
namespace {

using launch::testing::error_of;
using nlohmann::json;

const char* const kSchema =
    "Report {\n  u64 step\n  i64 change\n  f64 loss\n  bool done\n  string stage\n  list<Scalar> values\n"
    "  list<string> tags\n  optional<f64> best\n}\nScalar {\n  string name\n  f64 value\n}\n";

const json kMessage = json::parse(R"({
    "step": 18446744073709551615, "change": -9223372036854775807, "loss": "NaN", "done": true, "stage": "train",
    "values": [{"name": "loss", "value": 0.5}], "tags": ["a", "b"], "best": null})");

const Schema& report() {
  static const Schema schema = parse_schema(kSchema);
  return schema;
}

bool holds(const std::string& text) { return Expression(report(), text).holds_for(kMessage); }
std::string error(const std::string& text) {
  return error_of([&] { Expression(report(), text); });
}

TEST(ExpressionTest, ComparesFieldsWithValues) {
  EXPECT_TRUE(holds("stage == \"train\""));
  EXPECT_TRUE(holds("stage != 'validate'"));
  EXPECT_TRUE(holds("values[0].value < 0.6 and values[0].name=='loss'"));
  EXPECT_TRUE(holds("done"));
  EXPECT_TRUE(holds("done == true and not (done == false)"));
  EXPECT_FALSE(holds("stage < 'Train'")) << "small letters come after large ones";
}

TEST(ExpressionTest, ComputesExactlyWithAllIntegersOf64Bits) {
  EXPECT_TRUE(holds("step == 18446744073709551615"));
  EXPECT_FALSE(holds("step == 18446744073709551614"));
  EXPECT_TRUE(holds("step % 10 == 5"));
  EXPECT_TRUE(holds("change == -9223372036854775807"));
  EXPECT_TRUE(holds("change + 1 < -9223372036854775805"));
}

TEST(ExpressionTest, BindsOperatorsAsMathematicsDoes) {
  EXPECT_TRUE(holds("1 + 2 * 3 == 7"));
  EXPECT_TRUE(holds("(1 + 2) * 3 == 9"));
  EXPECT_TRUE(holds("10 - 4 - 3 == 3"));
  EXPECT_TRUE(holds("-2 * -3 == 6"));
  EXPECT_TRUE(holds("7 / 2 == 3.5"));
  EXPECT_TRUE(holds("true or true and false"));
  EXPECT_FALSE(holds("not true or false"));
}

TEST(ExpressionTest, LooksForElementsAndParts) {
  EXPECT_TRUE(holds("stage in ['train', \"test\"]"));
  EXPECT_TRUE(holds("stage not in ['validate']"));
  EXPECT_TRUE(holds("'rai' in stage"));
  EXPECT_TRUE(holds("'b' in tags and 'c' not in tags"));
  EXPECT_TRUE(holds("-1 in [2, -1]"));
}

TEST(ExpressionTest, FindsEveryComparisonWithAMissingValueFalse) {
  for (const char* comparison : {"best == 1", "best != 1", "best < 1", "values[5].value >= 0", "best + 1 > 0",
                                 "best in [1]", "best not in [1]", "values[1].name == 'x'", "-best < 0"}) {
    EXPECT_FALSE(holds(comparison)) << comparison;
  }
  EXPECT_TRUE(holds("not (best == 1)"));
}

TEST(ExpressionTest, TreatsNumbersThatAreNoneAsArithmeticDoes) {
  EXPECT_FALSE(holds("loss == loss"));
  EXPECT_TRUE(holds("loss != loss"));
  EXPECT_TRUE(holds("1 / 0 > 1e300"));
  EXPECT_FALSE(holds("step % 0 == 0"));
}

TEST(ExpressionTest, SaysWhereAMistakeIs) {
  EXPECT_EQ(error("stp > 5"),
            "--where, character 1: 'stp': Report has no field 'stp'; did you mean 'step'? known: best, change, done, "
            "loss, stage, step, tags, values");
  EXPECT_EQ(error("step = 5"), "--where, character 6: '=' compares nothing; '==' does");
  EXPECT_EQ(error("done && done"), "--where, character 6: the words 'and', 'or' and 'not' are used here");
  EXPECT_EQ(error("step == 'a'"), "--where, character 6: a number cannot be compared with a text by '=='");
  EXPECT_EQ(error("step + stage == 1"), "--where, character 8: the right side of '+' is a text; a number is needed");
  EXPECT_EQ(error("step"), "--where, character 1: the whole expression is a number; a condition is needed");
  EXPECT_EQ(error("done and step"),
            "--where, character 10: the right side of 'and' is a number; a condition is needed");
  EXPECT_EQ(error("step >"), "--where, character 7: a value is needed; there is the end");
  EXPECT_EQ(error("(step > 1"), "--where, character 10: ')' is needed");
  EXPECT_EQ(error("step > 1)"), "--where, character 9: ')' was not expected here");
  EXPECT_EQ(error("1 < step < 3"), "--where, character 10: '<' was not expected here");
  EXPECT_EQ(error("stage == 'train"), "--where, character 10: the text has no closing quote");
  EXPECT_EQ(error("step > 1.2.3"), "--where, character 8: '1.2.3' is not a number");
  EXPECT_EQ(error("step > 1 ; 2"), "--where, character 10: ';' is not part of the language");
  EXPECT_EQ(error("step in []"), "--where, character 10: an empty list contains nothing");
  EXPECT_EQ(error("step in [1, 'a']"), "--where, character 13: an element of this list is a text; a number is needed");
  EXPECT_EQ(error("step in [step]"), "--where, character 10: an element of a list is a number, a text, true or false");
  EXPECT_EQ(error("stage in [1]"), "--where, character 7: a text cannot be in a list of numbers");
  EXPECT_EQ(error("values == 1"),
            "--where, character 1: 'values' is a list<Scalar>, which cannot be compared; the first element is "
            "values[0]");
  EXPECT_EQ(error(""), "--where, character 1: a value is needed; there is the end");
}

TEST(ExpressionTest, IsBounded) {
  EXPECT_EQ(error(std::string(1001, ' ')), "--where: the expression has 1001 characters; at most 1000 are allowed");
  EXPECT_TRUE(holds(std::string(31, '(') + "done" + std::string(31, ')')));
  for (const char* opening : {"(", "not ", "-"}) {
    std::string deep;
    for (int i = 0; i < 200; ++i) deep += opening;
    EXPECT_NE(error(deep + "done").find("nested more than 32 levels deep"), std::string::npos) << opening;
  }
}

/// Tests that any text is either a valid condition or refused with an Error, because the text may come from an
/// untrusted source.
TEST(ExpressionTest, SurvivesRandomTexts) {
  const std::vector<std::string> words{"step",
                                       "stage",
                                       "done",
                                       "tags",
                                       "1",
                                       "2.5",
                                       "'a'",
                                       "(",
                                       ")",
                                       "[",
                                       "]",
                                       ",",
                                       "and",
                                       "or",
                                       "not",
                                       "in",
                                       "==",
                                       "<",
                                       "+",
                                       "-",
                                       "%",
                                       "best",
                                       "values[0].value",
                                       "\""};
  std::mt19937 random(1);
  int valid = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 8; n > 0; --n) text += words[random() % words.size()] + " ";
    try {
      holds(text);
      ++valid;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kInvalidArgument) << text;
    }
  }
  EXPECT_GT(valid, 100);
}

}  // namespace
}  // namespace trainyard::tools
