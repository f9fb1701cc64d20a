// SPDX-License-Identifier: Apache-2.0
#include "launch/file/substitution.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/file/toml_reader.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

using testing::error_of;

/// Resolves `text` as one file, with `arguments` as the defaults of another file "args.toml".
nlohmann::json resolved(const std::string& arguments, const std::string& text) {
  const Value declared = read_toml(arguments, "args.toml");
  const Substitution substitution(std::get<Value::Table>(declared.data));
  return to_json(substitution.resolve(read_toml(text, "folder/a.toml"), ""));
}

std::string error_in(const std::string& arguments, const std::string& text) {
  return error_of([&] { resolved(arguments, text); });
}

TEST(SubstitutionTest, AWholeStringTakesTheTypeOfTheArgument) {
  EXPECT_EQ(resolved("i = 3\nn = 0.5\nb = true\nl = [1, 2]", "v = ['${i}', '${n}', '${b}', '${l}']").dump(),
            R"({"v":[3,0.5,true,[1,2]]})");
}

TEST(SubstitutionTest, AnythingInALongerStringIsText) {
  EXPECT_EQ(resolved("i = 3\nn = 0.5\nb = true\ns = 'x'", "v = '${s}/${i}-${n}${b}'").dump(), R"({"v":"x/3-0.5true"})");
}

TEST(SubstitutionTest, ReachesEveryStringOfATable) {
  EXPECT_EQ(resolved("s = 'x'", "[a.b]\nc = [{ d = '${s}' }]").dump(), R"({"a":{"b":{"c":[{"d":"x"}]}}})");
}

TEST(SubstitutionTest, KnowsTheFolderOfTheFileItStandsIn) {
  EXPECT_EQ(resolved("here = '${file_dir}/x'", "a = '${file_dir}/y'\nb = '${here}'").dump(),
            R"({"a":"folder/y","b":"./x"})");
}

TEST(SubstitutionTest, ReadsTheEnvironment) {
  ASSERT_EQ(setenv("TRAINYARD_SUBSTITUTION_TEST", "value", 1), 0);
  EXPECT_EQ(resolved("", "a = '<${env:TRAINYARD_SUBSTITUTION_TEST}>'").dump(), R"({"a":"<value>"})");
  EXPECT_EQ(error_in("", "\na.b = '${env:TRAINYARD_NOT_SET}'"),
            "folder/a.toml:2: a.b: the environment variable 'TRAINYARD_NOT_SET' is not set");
}

TEST(SubstitutionTest, TwoDollarsAreOneAndALoneOneStays) {
  EXPECT_EQ(resolved("s = 'x'", "a = '$${s} $ $5 $$$$ ${s}$'").dump(), R"({"a":"${s} $ $5 $$ x$"})");
}

TEST(SubstitutionTest, ArgumentsMayReferToOthers) {
  EXPECT_EQ(resolved("a = '${b}'\nb = '${c}!'\nc = 1", "v = '${a}'").dump(), R"({"v":"1!"})");
}

TEST(SubstitutionTest, ValuesOfTheCommandLineAreLiteral) {
  const Substitution substitution({{"a", Value{std::string("${b} $$"), {}}}});
  EXPECT_EQ(to_json(substitution.resolve(Value{std::string("${a}"), {"a.toml", 1}}, "k")).dump(), R"("${b} $$")");
}

TEST(SubstitutionTest, EndlessReferencesAreAnError) {
  EXPECT_EQ(error_in("\na = '${b}'\nb = '${a}'", "v = '${a}'"),
            "args.toml:3: v: arguments refer to one another without end: 'a'");
}

TEST(SubstitutionTest, GrowthIsBounded) {
  std::string arguments = "a0 = '0123456789'\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "${a" + std::to_string(i - 1) + "}";
    arguments += "a" + std::to_string(i) + " = '";
    for (int k = 0; k < 10; ++k) arguments += before;
    arguments += "'\n";
  }
  EXPECT_EQ(error_in(arguments, "v = '${a9}'"), "args.toml:5: v: becomes longer than 65536 bytes");
}

TEST(SubstitutionTest, UnknownNamesAreErrorsWithTheNearestOne) {
  EXPECT_EQ(error_in("devices = 1", "[c]\nx = ['${device}']"),
            "folder/a.toml:2: c.x: no argument is named 'device'; did you mean 'devices'? known: devices");
}

TEST(SubstitutionTest, UnfinishedAndUnfitOnesAreErrors) {
  EXPECT_EQ(error_in("", "a = '${x'"), "folder/a.toml:1: a: \"${\" has no \"}\"; write $$ for a dollar");
  EXPECT_EQ(error_in("l = [1]", "a = 'x${l}'"),
            "folder/a.toml:1: a: ${l} is a list or a table and cannot stand inside a string");
}

}  // namespace
}  // namespace trainyard::launch
