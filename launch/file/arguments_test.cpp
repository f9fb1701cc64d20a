// SPDX-License-Identifier: Apache-2.0
#include "launch/file/arguments.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/file/toml_reader.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

using testing::error_of;

std::string values(const std::string& declared, const std::map<std::string, std::string>& given = {}) {
  const Value table = read_toml(declared, "a.toml");
  const auto resolved = resolve_arguments(&table, given);
  return to_json(Value{Value::Table(resolved.begin(), resolved.end()), {}}).dump();
}

std::string error_in(const std::string& declared, const std::map<std::string, std::string>& given = {}) {
  return error_of([&] { values(declared, given); });
}

TEST(ArgumentsTest, AWordIsANameAndAValue) {
  const Assignment assignment = parse_assignment("a.b=c=d");
  EXPECT_EQ(assignment.name, "a.b");
  EXPECT_EQ(assignment.text, "c=d");
  EXPECT_EQ(parse_assignment("a=").text, "");
  EXPECT_EQ(error_of([] { parse_assignment("--fast"); }), "command line: \"--fast\" is not allowed; name=value");
  EXPECT_EQ(error_of([] { parse_assignment("=1"); }), "command line: \"=1\" is not allowed; name=value");
}

TEST(ArgumentsTest, TakesDefaults) {
  EXPECT_EQ(values("a = { default = 1 }\nb = { default = 'x', help = 'h' }\nc = 2.5\nd = { default = [1] }"),
            R"({"a":1,"b":"x","c":2.5,"d":[1]})");
  EXPECT_EQ(resolve_arguments(nullptr, {}).size(), 0u);
}

TEST(ArgumentsTest, ReadsGivenValuesByType) {
  EXPECT_EQ(values("a = 1\nb = 1.5\nc = true\nd = 'x'\ne = [1]",
                   {{"a", "2"}, {"b", "3"}, {"c", "false"}, {"d", "4"}, {"e", "{x=1}"}}),
            R"({"a":2,"b":3,"c":false,"d":"4","e":{"x":1}})");
  EXPECT_EQ(values("a = { default = 1, type = 'number' }", {{"a", "0.5"}}), R"({"a":0.5})");
  EXPECT_EQ(values("a = { type = 'integer' }", {{"a", "5"}}), R"({"a":5})");
}

TEST(ArgumentsTest, RefusesGivenValuesOfAnotherType) {
  EXPECT_EQ(error_in("a = 1", {{"a", "1.5"}}), "command line: a: 1.5 is not allowed; an integer");
  EXPECT_EQ(error_in("a = 0.1", {{"a", "fast"}}), "command line: a: \"fast\" is not allowed; a number");
  EXPECT_EQ(error_in("a = true", {{"a", "yes"}}), "command line: a: \"yes\" is not allowed; a bool");
}

TEST(ArgumentsTest, RefusesGivenValuesThatAreNoChoice) {
  const std::string declared = "a = { default = 'cpu', choices = ['cpu', 'cuda'] }";
  EXPECT_EQ(values(declared, {{"a", "cuda"}}), R"({"a":"cuda"})");
  EXPECT_EQ(error_in(declared, {{"a", "tpu"}}), "command line: a: \"tpu\" is not allowed; one of: [\"cpu\",\"cuda\"]");
}

TEST(ArgumentsTest, AnArgumentWithoutDefaultMustBeGiven) {
  EXPECT_EQ(error_in("\ntext = { help = 'file or folder' }"),
            "a.toml:2: args.text: must be given: text=VALUE, a string (file or folder)");
  EXPECT_EQ(values("text = { help = 'x' }", {{"text", "/tmp"}}), R"({"text":"/tmp"})");
}

TEST(ArgumentsTest, RefusesBadDeclarations) {
  EXPECT_EQ(error_in("a = { default = 1, typ = 'integer' }"),
            "a.toml:1: args.a.typ: unknown key; did you mean 'type'? known: choices, default, help, type");
  EXPECT_EQ(error_in("a = { default = 'x', type = 'integer' }"),
            "a.toml:1: args.a.default: \"x\" is not allowed; an integer");
  EXPECT_EQ(error_in("a = { default = 1, type = 'strng' }"),
            "a.toml:1: args.a.type: \"strng\" is not allowed; one of: bool, integer, number, string, any; did you mean "
            "'string'?");
  EXPECT_EQ(error_in("a = { default = 1, choices = 2 }"),
            "a.toml:1: args.a.choices: 2 is not allowed; a list of values");
  EXPECT_EQ(error_in("'a b' = 1").substr(0, 37), "a.toml:1: args.a b: \"a b\" is not a na");
}

TEST(ArgumentsTest, ADefaultMayBeASubstitution) {
  EXPECT_EQ(values("a = { default = '${b}', type = 'integer' }\nb = 1"), R"({"a":"${b}","b":1})");
}

}  // namespace
}  // namespace trainyard::launch
