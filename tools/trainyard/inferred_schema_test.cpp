// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/inferred_schema.h"

#include <gmock/gmock.h>

#include "core/testing/error_of.h"
#include "messages/json.h"

namespace trainyard::tools {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

std::string schema_of(const std::string& json) { return to_text(infer_schema(Json::parse(json), "Note")); }

TEST(InferredSchemaTest, FieldsHaveTheTypesAndTheOrderOfTheExample) {
  EXPECT_EQ(schema_of(R"({"text": "a", "step": 3, "loss": 0.5, "good": true, "low": [1, 2], "high": [1, 2.5]})"),
            "Note {\n  string text\n  i64 step\n  f64 loss\n  bool good\n  list<i64> low\n  list<f64> high\n}\n");
  EXPECT_EQ(schema_of("{}"), "Note {\n}\n");
}

TEST(InferredSchemaTest, ObjectsBecomeStructsWithNamesOfTheirOwn) {
  EXPECT_EQ(schema_of(R"({"best_step": {"step": 3, "note": {"a": 1}}, "note": [{"b": "x"}]})"),
            "Note {\n  BestStep best_step\n  list<Note3> note\n}\nBestStep {\n  i64 step\n  Note2 note\n}\n"
            "Note2 {\n  i64 a\n}\nNote3 {\n  string b\n}\n");
}

TEST(InferredSchemaTest, TheExampleFitsItsSchemaAndComesBack) {
  const std::string text = R"({"a":[[1,2],[3]],"b":{"c":[{"d":0.5},{"d":1.0}]},"e":"\u00e4"})";
  const Schema schema = infer_schema(Json::parse(text), "Note");
  EXPECT_EQ(parse_schema(to_text(schema)), schema);
  const std::string body = binary_from_json(schema, text);
  EXPECT_EQ(Json::parse(json_from_binary(schema, std::as_bytes(std::span(body)))), Json::parse(text));
}

TEST(InferredSchemaTest, WhatHasNoTypeIsRefusedWithItsPath) {
  const auto refusal = [](const std::string& json) {
    return trainyard::testing::error_of([&] { schema_of(json); }).second;
  };
  EXPECT_THAT(refusal(R"({"a": {"b": null}})"), HasSubstr("a.b: null has no type; give the type"));
  EXPECT_THAT(refusal(R"({"a": [[]]})"), HasSubstr("a[0]: an empty list has no type"));
  EXPECT_THAT(refusal(R"({"a": {}})"), HasSubstr("a: an object without fields"));
  EXPECT_THAT(refusal(R"({"a b": 1})"), HasSubstr("a b: the name of a field"));
  EXPECT_THAT(refusal(R"({"1": 1})"), HasSubstr("1: the name of a field"));
}

TEST(InferredSchemaTest, ATypeIsNamedAfterItsTopic) {
  EXPECT_EQ(type_name_of("/alerts/slow_rank"), "SlowRank");
  EXPECT_EQ(type_name_of("/my-topic.x"), "MyTopicX");
  EXPECT_EQ(type_name_of("/2d"), "Message2d");
}

}  // namespace
}  // namespace trainyard::tools
