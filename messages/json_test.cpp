// SPDX-License-Identifier: Apache-2.0
#include "messages/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "messages/error.h"
#include "messages/testing/all_messages.h"

namespace trainyard {
namespace {

using testing::Everything;
using testing::Inner;

/// Returns the text of the Error with which `json` is refused.
template <Message T>
std::string refusal(std::string_view json) {
  try {
    from_json<T>(json);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

/// Returns the text of the Error with which a body is refused when it is read with `schema`.
std::string refusal(const Schema& schema, std::string_view body) {
  try {
    json_from_binary(schema, std::as_bytes(std::span(body)));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCorrupt);
    return error.what();
  }
  return "accepted";
}

TEST(JsonTest, ShowsAMessageInOneLineOrIndented) {
  EXPECT_EQ(to_json(Scalar{"loss", 0.5}), R"({"name":"loss","value":0.5})");
  EXPECT_EQ(to_json(Scalar{"loss", 2}, 2), "{\n  \"name\": \"loss\",\n  \"value\": 2.0\n}");
  EXPECT_EQ(to_json(Connect{}), R"({"endpoints":{}})");
  EXPECT_EQ(to_json(Connect{}, 2), "{\n  \"endpoints\": {}\n}");
}

TEST(JsonTest, ShowsWhatIsNotANumberAsAString) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_json(Scalar{"a", std::nan("")}), R"({"name":"a","value":"NaN"})");
  EXPECT_EQ(to_json(Scalar{"a", infinity}), R"({"name":"a","value":"Infinity"})");
  EXPECT_EQ(to_json(Scalar{"a", -infinity}), R"({"name":"a","value":"-Infinity"})");
  EXPECT_TRUE(std::isnan(from_json<Scalar>(R"({"value":"NaN"})").value));
  EXPECT_EQ(from_json<Scalar>(R"({"value":"Infinity"})").value, infinity);
  EXPECT_EQ(from_json<Inner>(R"({"value":"-Infinity"})").value, -std::numeric_limits<float>::infinity());
}

TEST(JsonTest, ShowsNumbersWithAsManyDigitsAsTheyHave) {
  EXPECT_EQ(to_json(Inner{"", 0.1f}), R"({"name":"","value":0.1})");
  EXPECT_EQ(to_json(Scalar{"", 0.1}), R"({"name":"","value":0.1})");
  EXPECT_EQ(to_json(Scalar{"", -0.0}), R"({"name":"","value":-0.0})");
  EXPECT_EQ(to_json(Credit{1, std::numeric_limits<std::uint64_t>::max(), 0}),
            R"({"subscription":1,"messages":18446744073709551615,"bytes":0})");
}

TEST(JsonTest, RestoresEveryDoubleThatItShowed) {
  for (const double value : {5e-324, 1.7976931348623157e308, 0.1 + 0.2, -1e-7, 1e22, 123456789.125}) {
    EXPECT_EQ(from_json<Scalar>(to_json(Scalar{"", value})).value, value);
  }
  for (const float value : {1e-45f, 3.4028235e38f, 0.1f, 16777217.f}) {
    EXPECT_EQ(from_json<Inner>(to_json(Inner{"", value})).value, value);
  }
}

TEST(JsonTest, EscapesTextAndReplacesWhatIsNoUtf8) {
  EXPECT_EQ(to_json(Connected{"a\"\n\\\x01"}), R"({"process":"a\"\n\\\u0001"})");
  EXPECT_EQ(to_json(Connected{"gr\xc3\xbc\xc3\x9f"}), "{\"process\":\"gr\xc3\xbc\xc3\x9f\"}");
  EXPECT_EQ(to_json(Connected{"a\xff"}), "{\"process\":\"a\xef\xbf\xbd\"}");
}

TEST(JsonTest, ShowsWhereATensorsBytesAre) {
  Prediction message;
  message.tensors = {Tensor::empty(DType::kBFloat16, {2, 3}), Tensor{}};
  const auto shown = nlohmann::json::parse(to_json(message));
  EXPECT_EQ(shown["tensors"].dump(), R"([{"dtype":"bfloat16","offset":0,"payload":0,"shape":[2,3]},)"
                                     R"({"dtype":"float32","offset":0,"payload":null,"shape":[]}])");
}

TEST(JsonTest, GivesMissingFieldsTheirZero) {
  const Order order = from_json<Order>(R"({"kind":"train","cursor":{"samples":3},"metrics":[{"value":1}]})");
  EXPECT_EQ(order.kind, OrderKind::kTrain);
  EXPECT_EQ(order.micro_batches, 0u) << "zero, not the default of the struct";
  EXPECT_EQ(order.cursor.samples, 3u);
  EXPECT_EQ(order.metrics.at(0).name, "");
  const auto everything = from_json<Everything>("{}");
  EXPECT_FALSE(everything.maybe);
  EXPECT_TRUE(everything.tensor.buffer.empty());
}

TEST(JsonTest, ReadsMapsAndOptionals) {
  const auto read = from_json<Everything>(R"({"table":{"b":[1,-2],"a":[]},"maybe":{"name":"x"}})");
  EXPECT_EQ(read.table, (std::map<std::string, std::vector<std::int32_t>>{{"a", {}}, {"b", {1, -2}}}));
  EXPECT_EQ(read.maybe.value().name, "x");
}

TEST(JsonErrorTest, NamesThePathOfTheOffendingField) {
  EXPECT_EQ(refusal<Order>(R"({"metrics":[{},{"value":"much"}]})"),
            R"(Order.metrics[1].value is "much"; a number, "NaN", "Infinity" or "-Infinity" is allowed)");
  EXPECT_EQ(refusal<Everything>(R"({"table":{"a":[0,1.5]}})"),
            "Everything.table[\"a\"][1] is 1.5; an integer from -2147483648 to 2147483647 is allowed");
  EXPECT_EQ(refusal<Everything>(R"({"inner":[]})"), "Everything.inner is an array; an object is allowed");
  EXPECT_EQ(refusal<Everything>(R"({"inners":{}})"), "Everything.inners is an object; an array is allowed");
  EXPECT_EQ(refusal<Everything>(R"({"text":1})"), "Everything.text is 1; a string is allowed");
  EXPECT_EQ(refusal<Everything>(R"({"flag":1})"), "Everything.flag is 1; true or false is allowed");
}

TEST(JsonErrorTest, ListsTheFieldsWhenANameIsUnknown) {
  EXPECT_EQ(refusal<Order>(R"({"cursor":{"sample":1}})"),
            "Order.cursor has no field 'sample'; its fields: epoch, samples");
}

TEST(JsonErrorTest, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(refusal<Everything>(R"({"u8":256})"), "Everything.u8 is 256; an integer from 0 to 255 is allowed");
  EXPECT_EQ(refusal<Everything>(R"({"i8":-129})"), "Everything.i8 is -129; an integer from -128 to 127 is allowed");
  EXPECT_EQ(refusal<Everything>(R"({"u64":-1})"),
            "Everything.u64 is -1; an integer from 0 to 18446744073709551615 is allowed");
  EXPECT_EQ(from_json<Everything>(R"({"u64":18446744073709551615})").u64, ~std::uint64_t{0});
  EXPECT_THAT(refusal<Everything>(R"({"f32":1e39})"),
              ::testing::StartsWith("Everything.f32 is 1e+39; at most 3.40282"));
}

TEST(JsonErrorTest, RefusesTensorsAndWhatIsNoJson) {
  EXPECT_EQ(refusal<Everything>(R"({"tensor":{}})"), "Everything.tensor is a tensor, which cannot be given as JSON");
  EXPECT_THAT(refusal<Scalar>("{"), ::testing::StartsWith("message is not JSON: "));
  EXPECT_EQ(refusal<Scalar>("[1]"), "Scalar is an array; an object is allowed");
}

TEST(JsonErrorTest, SurvivesJsonThatIsVeryDeep) {
  const std::string deep = R"({"value":)" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  EXPECT_THAT(refusal<Scalar>(deep), ::testing::StartsWith("Scalar.value is an array"));
}

TEST(JsonFromHostileBinaryTest, BoundsCountsAndRefusesRepeatedKeys) {
  using namespace std::string_literals;
  EXPECT_EQ(refusal(parse_schema("A {\n  list<f32> a\n}\n"),
                    "\0\0\0\x10"
                    "abcdef"s),
            "message claims 268435456 elements of 1 bytes or more at byte 0, where 6 bytes remain");
  EXPECT_EQ(refusal(parse_schema("A {\n  map<u8> a\n}\n"), "\2\0\0\0\1\0\0\0a\1\1\0\0\0a\2"s),
            "message has the key 'a' a second time in a map, before byte 15");
  EXPECT_EQ(refusal(parse_schema("A {\n  bool a\n}\n"), "\2"), "message has 2 for a bool at byte 0; 0 or 1");
  EXPECT_EQ(refusal(parse_schema("A {\n  u8 a\n}\n"), "\2\2"), "message has 1 bytes after its last field");
}

// parse_schema refuses these schemas, but a program can still build them.
TEST(JsonFromHostileBinaryTest, ASchemaWithoutStructsIsRefused) {
  try {
    json_from_binary(Schema{}, {});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a schema without structs describes no message");
  }
}

TEST(JsonFromHostileBinaryTest, EndsEvenWithSchemasThatDoNot) {
  const FieldType self{FieldKind::kStruct, "A", {}};
  EXPECT_EQ(refusal(Schema{{{"A", {{"a", self}}}}}, ""), "message of type A nests too deeply");
  EXPECT_EQ(refusal(Schema{{{"A", {{"b", {FieldKind::kStruct, "B", {}}}}}}}, ""), "schema has no struct 'B'");
  const Schema empties{{{"A", {{"b", {FieldKind::kList, "", {{FieldKind::kStruct, "B", {}}}}}}}, {"B", {}}}};
  EXPECT_EQ(refusal(empties, "\xff\xff\xff\xff"), "a list of empty structs 'B'");
}

}  // namespace
}  // namespace trainyard
