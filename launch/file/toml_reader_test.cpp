// SPDX-License-Identifier: Apache-2.0
#include "launch/file/toml_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

using testing::error_of;

std::string error_in(const std::string& text) {
  return error_of([&] { read_toml(text, "a.toml"); });
}

std::uint32_t line_of(const Value& root, const std::string& outer, const std::string& inner) {
  return root.find(outer)->find(inner)->origin.line;
}

TEST(TomlReaderTest, KeepsEveryKindOfValue) {
  const Value root = read_toml("b = true\ni = -3\nn = 0.5\ns = 'x'\nl = [1, 'a']\nt = { x = 1 }\n", "a.toml");
  EXPECT_EQ(to_json(root), nlohmann::json::parse(R"({"b":true,"i":-3,"n":0.5,"s":"x","l":[1,"a"],"t":{"x":1}})"));
}

TEST(TomlReaderTest, KnowsTheLineOfEveryValue) {
  const Value root = read_toml("[a]\nx = 1\n\n[b]\ny = 2\n[b.c]\nz = [1,\n  2]\n", "a.toml");
  EXPECT_EQ(root.find("a")->origin.line, 1u);
  EXPECT_EQ(line_of(root, "a", "x"), 2u);
  EXPECT_EQ(line_of(root, "b", "y"), 5u);
  EXPECT_EQ(line_of(root, "b", "c"), 6u);
  EXPECT_EQ(std::get<Value::List>(root.find("b")->find("c")->find("z")->data)[1].origin.line, 8u);
  EXPECT_EQ(root.find("a")->origin.file, "a.toml");
}

TEST(TomlReaderTest, KnowsTheLineOfTablesThatAreOnlyImplied) {
  const Value root = read_toml("\n\n[component.a]\nparams.x.y = 1\n", "a.toml");
  EXPECT_EQ(root.find("component")->origin.line, 3u);
  EXPECT_EQ(root.find("component")->find("a")->find("params")->origin.line, 4u);
}

TEST(TomlReaderTest, TurnsSyntaxErrorsIntoErrorsWithFileAndLine) {
  EXPECT_EQ(error_in("a = 1\nb = = 2\n").substr(0, 12), "a.toml:2: Er");
  EXPECT_EQ(error_in("a = 1\na = 2\n"),
            "a.toml:2: Error while parsing key-value pair: cannot redefine existing integer "
            "'a'");
}

TEST(TomlReaderTest, RefusesWhatJsonCannotCarry) {
  EXPECT_EQ(error_in("\na = nan"), "a.toml:2: nan is not allowed; a finite number");
  EXPECT_EQ(error_in("a = -inf"), "a.toml:1: -inf is not allowed; a finite number");
  EXPECT_EQ(error_in("a = 2020-01-01"), "a.toml:1: dates and times are not allowed; write them as strings");
}

TEST(TomlReaderTest, ChecksTheLimitsFirst) {
  std::string path;
  for (int i = 0; i < 100'000; ++i) path += "a.";
  EXPECT_EQ(error_in(path + "a = 1"), "a.toml:1: a key has more than 32 parts");
}

TEST(TomlReaderTest, ReadsCommandLineValuesAsTomlWhereTheyAre) {
  const auto read = [](const std::string& text) { return to_json(read_command_line_value(text)).dump(); };
  EXPECT_EQ(read("12"), "12");
  EXPECT_EQ(read("1e-3"), "0.001");
  EXPECT_EQ(read("true"), "true");
  EXPECT_EQ(read("[0, 1]"), "[0,1]");
  EXPECT_EQ(read("{plugin='text'}"), R"({"plugin":"text"})");
  EXPECT_EQ(read("\"12\""), R"("12")");
}

TEST(TomlReaderTest, ReadsCommandLineValuesAsStringsOtherwise) {
  const auto read = [](const std::string& text) { return std::get<std::string>(read_command_line_value(text).data); };
  for (const std::string text : {"/usr/share/x.txt", "adamw", "", "1 2", "5 # five", "1\nb = 2", "nan", "2020-01-01",
                                 "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "\"open"}) {
    EXPECT_EQ(read(text), text);
  }
}

TEST(TomlReaderTest, CommandLineValuesComeFromTheCommandLine) {
  EXPECT_EQ(to_text(read_command_line_value("[1, 2]").origin), "command line");
}

}  // namespace
}  // namespace trainyard::launch
