// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"
#include "messages/limits.h"
#include "messages/schema.h"

namespace trainyard {
namespace {

std::string refusal(std::string_view text) {
  try {
    parse_schema(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCorrupt);
    return error.what();
  }
  return "accepted";
}

TEST(SchemaParseTest, UnderstandsEveryKindOfField) {
  const Schema schema = parse_schema("A {\n  map<list<optional<B>>> x\n  Tensor t\n  u8 u8\n}\nB {\n  bool b\n}\n");
  ASSERT_EQ(schema.structs.size(), 2u);
  const FieldType& type = schema.structs[0].fields[0].type;
  EXPECT_EQ(type.kind, FieldKind::kMap);
  EXPECT_EQ(type.element[0].kind, FieldKind::kList);
  EXPECT_EQ(type.element[0].element[0].kind, FieldKind::kOptional);
  EXPECT_EQ(type.element[0].element[0].element[0].struct_name, "B");
  EXPECT_EQ(schema.structs[0].fields[1].type.kind, FieldKind::kTensor);
  EXPECT_EQ(schema.structs[0].fields[2].name, "u8");
}

TEST(SchemaParseTest, AllowsAMessageWithoutFields) { EXPECT_EQ(parse_schema("Empty {\n}\n").structs.size(), 1u); }

TEST(SchemaParseTest, SaysInWhichLineTheTextBreaks) {
  EXPECT_EQ(refusal(""), "schema line 1 ends without a newline: ''");
  EXPECT_EQ(refusal("A {\n  u8 a\n}"), "schema line 3 ends without a newline: '}'");
  EXPECT_EQ(refusal("A{\n}\n"), "schema line 1 must be 'Name {': 'A{'");
  EXPECT_EQ(refusal("A {\n  u8 a\n}\n\n"), "schema line 4 must be 'Name {': ''");
  EXPECT_EQ(refusal("A {\n u8 a\n}\n"), "schema line 2 must be '  type name' or '}': ' u8 a'");
  EXPECT_EQ(refusal("A {\n  u8  a\n}\n"), "schema line 2 must be '  type name' or '}': '  u8  a'");
  EXPECT_EQ(refusal("A {\n  u8 1a\n}\n"), "schema line 2 must be '  type name' or '}': '  u8 1a'");
  EXPECT_EQ(refusal("A {\n  list<u8 a\n}\n"), "schema line 2 misses a '>' before: ' a'");
  EXPECT_EQ(refusal("A {\n  <u8> a\n}\n"), "schema line 2 has no type at: '<u8> a'");
  EXPECT_EQ(refusal("A {\n  u8 a\r\n}\n"), "schema line 2 must be '  type name' or '}': '  u8 a\r'");
}

TEST(SchemaParseTest, RefusesNamesThatMeanTwoThings) {
  EXPECT_EQ(refusal("u8 {\n}\n"), "schema line 1 gives a struct the name of a simple type: 'u8 {'");
  EXPECT_EQ(refusal("A {\n  u8 a\n  i8 a\n}\n"), "schema line 3 has a field's name again: '  i8 a'");
  EXPECT_EQ(refusal("A {\n  A2 a\n}\nA2 {\n  u8 a\n}\nA2 {\n  u8 b\n}\n"),
            "schema line 7 describes a struct for the second time: 'A2 {'");
}

TEST(SchemaParseTest, RefusesStructsThatAreMissingStrayOrOutOfOrder) {
  EXPECT_EQ(refusal("A {\n  B b\n}\n"), "schema line 1: struct 'A' has a field of the unknown type 'B'");
  EXPECT_EQ(refusal("A {\n  u8 a\n}\nB {\n  u8 b\n}\n"), "schema line 4: struct 'B' is in no field of the message");
  EXPECT_EQ(refusal("A {\n  C c\n  B b\n}\nB {\n  u8 b\n}\nC {\n  u8 c\n}\n"),
            "schema line 8: struct 'C' is not listed in the order of appearance");
}

TEST(SchemaParseTest, RefusesTypesWithoutEnd) {
  EXPECT_EQ(refusal("A {\n  A a\n}\n"), "schema line 1: struct 'A' holds itself");
  EXPECT_EQ(refusal("A {\n  B b\n}\nB {\n  list<A> a\n}\n"), "schema line 1: struct 'A' holds itself");
}

TEST(SchemaParseTest, RefusesStructsThatCouldBeRepeatedForFree) {
  EXPECT_EQ(refusal("A {\n  list<B> b\n}\nB {\n}\n"), "schema line 4: struct 'B' has no fields");
}

/// Returns a schema with a field of the type list<list<...<u8>>>.
std::string nested_lists(std::size_t depth) {
  std::string text = "A {\n  ";
  for (std::size_t i = 0; i < depth; ++i) text += "list<";
  return text + "u8" + std::string(depth, '>') + " a\n}\n";
}

/// Returns a schema in which every struct contains the next one.
std::string nested_structs(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += fmt::format("A{} {{\n  A{} a\n}}\n", i, i + 1);
  return text + fmt::format("A{} {{\n  u8 a\n}}\n", depth);
}

TEST(SchemaParseTest, BoundsTheNesting) {
  EXPECT_EQ(refusal(nested_lists(kMaxNesting)), "accepted");
  EXPECT_THAT(refusal(nested_lists(kMaxNesting + 1)), ::testing::HasSubstr("schema line 2 nests types too deeply"));
  EXPECT_EQ(refusal(nested_structs(kMaxNesting)), "accepted");
  EXPECT_THAT(refusal(nested_structs(kMaxNesting + 1)), ::testing::HasSubstr("nests types too deeply"));
  EXPECT_THAT(refusal(nested_structs(3000)), ::testing::HasSubstr("nests types too deeply"));
}

// The parser visits struct B only once, for the field b, where it is not nested deeply. Its depth must still be counted
// for the field c, where it is nested deeply.
TEST(SchemaParseTest, BoundsTheNestingOfAStructThatIsUsedTwice) {
  const std::string lists = "list<list<list<list<list<list<list<list<";
  const std::string deep = "A {\n  B b\n  " + lists + lists + lists + "B" + std::string(24, '>') + " c\n}\n";
  EXPECT_EQ(refusal(deep + "B {\n  list<list<u8>> b\n}\n"), "accepted");
  EXPECT_THAT(refusal(deep + "B {\n  " + lists + "u8>>>>>>>> b\n}\n"), ::testing::HasSubstr("nests types too deeply"));
}

TEST(SchemaParseTest, BoundsTheText) {
  EXPECT_EQ(refusal(std::string(70000, ' ')), "schema text has 70000 bytes; at most 65536");
}

}  // namespace
}  // namespace trainyard
