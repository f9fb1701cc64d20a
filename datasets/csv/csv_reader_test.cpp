// SPDX-License-Identifier: Apache-2.0
#include "datasets/csv/csv_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/python.h"
#include "datasets/testing/dataset_testing.h"

namespace trainyard::csv {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text, char separator = ',') {
  Reader reader(text, "data.csv", separator);
  Rows rows;
  while (reader.next()) {
    rows.emplace_back();
    for (const Cell& cell : reader.cells()) rows.back().emplace_back(cell.text);
  }
  return rows;
}

TEST(CsvReaderTest, CellsEndAtSeparatorsAndRowsAtLineEnds) {
  EXPECT_EQ(rows_of("a,b\nc,d\n"), (Rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(rows_of("a,b\r\nc,d"), (Rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(rows_of("a;b,c", ';'), (Rows{{"a", "b,c"}}));
  EXPECT_EQ(rows_of(",a,,"), (Rows{{"", "a", "", ""}}));
  EXPECT_EQ(rows_of("\xef\xbb\xbf"
                    "a,b"),
            (Rows{{"a", "b"}}));
  EXPECT_EQ(rows_of("\n\r\na\n\n\nb\n\n"), (Rows{{"a"}, {"b"}}));
  EXPECT_EQ(rows_of(""), Rows{});
}

TEST(CsvReaderTest, QuotedCellsHoldSeparatorsLineEndsAndQuotes) {
  EXPECT_EQ(rows_of("\"a,b\",\"c\r\nd\"\n\"\",\"\"\"\"\n"), (Rows{{"a,b", "c\r\nd"}, {"", "\""}}));
  EXPECT_EQ(rows_of(R"("say ""a""","say ""b""","x")"), (Rows{{"say \"a\"", "say \"b\"", "x"}}));
}

TEST(CsvReaderTest, KnowsLineAndOffsetOfEveryRowAndCell) {
  Reader reader("h,i\n\"x\ny\",2\n\n30,40\n", "data.csv", ',');
  ASSERT_TRUE(reader.next() && reader.next());
  EXPECT_EQ(reader.place(), "data.csv line 2 at offset 4");
  EXPECT_EQ(reader.cells()[0].offset, 5u);  // The position after the quote.
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), 5u);
  EXPECT_EQ(reader.cells()[1].offset, 16u);
  EXPECT_FALSE(reader.next());
}

TEST(CsvReaderTest, QuotesThatAreBrokenAreNamed) {
  EXPECT_EQ(error_of([] { rows_of("a\nb,\"c\nd\n"); }).second,
            "data.csv line 2 at offset 4: the quote is never closed");
  const auto [code, message] = error_of([] { rows_of("\"a\"b,c\n"); });
  EXPECT_EQ(code, Code::kCorrupt);
  EXPECT_EQ(message, "data.csv line 1 at offset 3: 'b' behind a closing quote; allowed: ',' or the end of the line");
}

/// Reads rows that Python's csv module has written, with difficult texts in every column.
TEST(CsvReaderTest, ReadsBackWhatPythonWrites) {
  if (!testing::python_has("csv")) GTEST_SKIP() << "needs /usr/bin/python3";
  testing::TemporaryFolder folder;
  const std::string printed = testing::python(R"(
import csv, itertools, sys
texts = ["", "a", ",", '"', '""', "\n", "\r\n", " x ", 'a"b,c\n']
rows = list(itertools.product(texts, repeat=3))
with open(sys.argv[1], "w", newline="") as file:
    csv.writer(file, quoting=csv.QUOTE_MINIMAL).writerows(rows)
print("|".join("/".join(row) for row in rows), end="")
)",
                                              folder.path("a.csv"));
  std::ifstream stream(folder.path("a.csv"), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::string joined;
  for (const auto& row : rows_of(text)) {
    joined += (joined.empty() ? "" : "|") + fmt::format("{}", fmt::join(row, "/"));
  }
  EXPECT_EQ(joined, printed);
}

}  // namespace
}  // namespace trainyard::csv
