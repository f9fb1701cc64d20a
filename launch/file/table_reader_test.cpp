// SPDX-License-Identifier: Apache-2.0
#include "launch/file/table_reader.h"

#include <gtest/gtest.h>

#include "launch/file/toml_reader.h"
#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

using testing::error_of;

class TableReaderTest : public ::testing::Test {
 protected:
  Value value_ = read_toml(R"(text = "x"
flag = true
count = 3
time = 0.5
words = ["a", "b"]
cpus = [0, 65535]
table = { A = "1" }
)",
                           "a.toml");
  TableReader table_{value_, "run"};
};

TEST_F(TableReaderTest, ReadsEveryKind) {
  EXPECT_EQ(table_.text("text", ""), "x");
  EXPECT_EQ(table_.name("text", ""), "x");
  EXPECT_TRUE(table_.flag("flag", false));
  EXPECT_EQ(table_.integer("count", 0, 0), 3);
  EXPECT_EQ(table_.seconds("time", 1), 0.5);
  EXPECT_EQ(table_.seconds("count", 1), 3.0);
  EXPECT_EQ(table_.texts("words"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table_.indices("cpus"), (std::vector<std::uint32_t>{0, 65535}));
  EXPECT_EQ(table_.text_table("table"), (std::map<std::string, std::string>{{"A", "1"}}));
}

TEST(ValueTest, IsShownWholeInAnErrorUpTo200Bytes) {
  const Value whole{std::string(198, 'x'), {}};
  const Value longer{std::string(199, 'x'), {}};
  EXPECT_EQ(to_text(whole), '"' + std::string(198, 'x') + '"');
  EXPECT_EQ(to_text(longer), '"' + std::string(199, 'x') + "...");
}

TEST_F(TableReaderTest, FallsBackWhereNothingIsGiven) {
  EXPECT_EQ(table_.text("none", "y"), "y");
  EXPECT_EQ(table_.one_of("none", {"a"}, "b"), "b");
  EXPECT_TRUE(table_.flag("none", true));
  EXPECT_EQ(table_.integer("none", 7, 100), 7);
  EXPECT_TRUE(table_.texts("none").empty());
  EXPECT_FALSE(table_.has("none"));
}

TEST_F(TableReaderTest, NamesTheKeyAndWhatIsAllowed) {
  EXPECT_EQ(error_of([&] { table_.text("count", ""); }), "a.toml:3: run.count: 3 is not allowed; a string");
  EXPECT_EQ(error_of([&] { table_.flag("text", true); }), "a.toml:1: run.text: \"x\" is not allowed; true or false");
  EXPECT_EQ(error_of([&] { table_.integer("count", 0, 4); }), "a.toml:3: run.count: 3 is not allowed; an integer >= 4");
  EXPECT_EQ(error_of([&] { table_.integer("count", 0, 0, 2); }),
            "a.toml:3: run.count: 3 is not allowed; an integer >= 0 and <= 2");
  EXPECT_EQ(error_of([&] { table_.texts("cpus"); }), "a.toml:6: run.cpus: 0 is not allowed; a list of strings");
  EXPECT_EQ(error_of([&] { table_.text_table("words"); }),
            "a.toml:5: run.words: [\"a\",\"b\"] is not allowed; a table");
  EXPECT_EQ(error_of([&] {
              table_.one_of("text", {"y", "z"}, "");
            }).substr(0, 57),
            "a.toml:1: run.text: \"x\" is not allowed; one of: y, z; did");
}

TEST_F(TableReaderTest, RefusesUnknownKeysWithTheNearestOne) {
  EXPECT_EQ(error_of([&] {
              TableReader(value_, "run", {"texts", "flag", "count", "time", "words", "cpus", "table"});
            }),
            "a.toml:1: run.text: unknown key; did you mean 'texts'? known: count, cpus, flag, table, texts, time, "
            "words");
  EXPECT_EQ(error_of([&] { TableReader(*value_.find("count"), "run.count"); }),
            "a.toml:3: run.count: 3 is not allowed; a table");
}

TEST(CheckNameTest, AcceptsWordsOnly) {
  const Value value{std::string(), {"a.toml", 1}};
  for (const std::string good : {"a", "_x", "a-b_2"}) EXPECT_NO_THROW(check_name(value, "k", good));
  for (const std::string bad : {"", "1a", "-a", "a/b", "a.b", "a b", "\xc3\xa4"}) {
    EXPECT_THROW(check_name(value, "k", bad), Error) << bad;
  }
  EXPECT_NO_THROW(check_name(value, "k", std::string(64, 'a')));
  EXPECT_THROW(check_name(value, "k", std::string(65, 'a')), Error);
}

}  // namespace
}  // namespace trainyard::launch
