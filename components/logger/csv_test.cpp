// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "components/logger/csv_file.h"
#include "components/logger/csv_sink.h"
#include "components/logger/test_files.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using testing::read_file;
using testing::TemporaryDirectory;
using testing::write_file;

TEST(CsvTest, QuotesOnlyWhatNeedsQuotes) {
  EXPECT_EQ(csv_quoted("loss"), "loss");
  EXPECT_EQ(csv_quoted("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_quoted("say \"hi\""), "\"say \"\"hi\"\"\"");
}

TEST(CsvTest, ReadsBackTheHeaderItQuoted) {
  const std::string header = csv_quoted("a,b") + ",loss," + csv_quoted("q\"\r\nx") + "\r\n1,2,3\r\n";
  EXPECT_EQ(csv_first_record(header), (std::vector<std::string>{"a,b", "loss", "q\"\r\nx"}));
}

TEST(CsvTest, RowsEndInCarriageReturnAndLineFeed) {
  TemporaryDirectory directory;
  CsvFile file(directory / "t.csv");
  file.set("step", "1");
  file.set("loss", "2.5");
  file.end_row();
  file.flush();
  EXPECT_EQ(read_file(directory / "t.csv"), "step,loss\r\n1,2.5\r\n");
}

TEST(CsvTest, ALateColumnIsAddedOnTheRightOfEveryRow) {
  TemporaryDirectory directory;
  CsvFile file(directory / "t.csv");
  for (const char* step : {"1", "2"}) {
    file.set("step", step);
    file.end_row();
  }
  file.set("step", "3");
  file.set("accuracy", "0.5");
  file.end_row();
  file.set("step", "4");  // A row without the new column.
  file.end_row();
  file.flush();
  EXPECT_EQ(read_file(directory / "t.csv"), "step,accuracy\r\n1,\r\n2,\r\n3,0.5\r\n4,\r\n");
}

TEST(CsvTest, AnExistingFileIsContinuedUnderItsOwnHeader) {
  TemporaryDirectory directory;
  write_file(directory / "t.csv", "loss,step\r\n9,1\r\n8");  // The last row is incomplete, because the run was killed.
  CsvFile file(directory / "t.csv");
  file.set("step", "2");
  file.set("loss", "7");
  file.end_row();
  file.flush();
  EXPECT_EQ(read_file(directory / "t.csv"), "loss,step\r\n9,1\r\n7,2\r\n");
}

TEST(CsvTest, TheFirstValueOfANameCounts) {
  TemporaryDirectory directory;
  CsvFile file(directory / "t.csv");
  file.set("loss", "1");
  file.set("loss", "2");
  file.end_row();
  file.flush();
  EXPECT_EQ(read_file(directory / "t.csv"), "loss\r\n1\r\n");
}

TEST(CsvTest, AFolderThatCannotBeMadeIsNamed) {
  TemporaryDirectory directory;
  write_file(directory / "file", "");
  try {
    CsvFile file(directory / "file/t.csv");
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kIo);
    EXPECT_EQ(std::string(error.what()), "cannot open " + (directory / "file/t.csv") + " for writing: Not a directory");
  }
}

/// Reads a table with Python's csv module, and returns its rows as JSON.
std::string read_with_python(const std::string& path) {
  const std::string script =
      "import csv, json, sys; print(json.dumps(list(csv.reader(open(sys.argv[1], newline=''), strict=True))))";
  FILE* pipe = ::popen(("python3 -c \"" + script + "\" '" + path + "'").c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0) << "the reader refused " << path;
  return text;
}

TEST(CsvTest, AnotherReaderSeesTheSameTableWhateverColumnsAppear) {
  if (std::system("python3 -c pass >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3, the independent reader, is not here";
  TemporaryDirectory directory;
  const std::vector<std::string> names = {"loss", "a,b", "say \"hi\"", "two\nlines", " spaced ", "last"};
  std::vector<std::map<std::string, std::string>> expected;
  std::mt19937 random(3);
  {
    CsvFile file(directory / "t.csv");
    for (int row = 0; row < 60; ++row) {
      auto& cells = expected.emplace_back();
      for (std::size_t i = 0; i < names.size(); ++i) {
        // The n-th column first appears in row 10 * n or later, so that columns are added one after another.
        if (row < static_cast<int>(i) * 10 || random() % 3 == 0) continue;
        cells[names[i]] = std::to_string(row * 10 + static_cast<int>(i));
        file.set(names[i], cells[names[i]]);
      }
      file.end_row();
      if (row % 13 == 0) file.flush();
    }
    file.flush();
  }
  const auto table = nlohmann::json::parse(read_with_python(directory / "t.csv"));
  ASSERT_EQ(table.size(), expected.size() + 1);
  for (std::size_t row = 0; row < expected.size(); ++row) {
    ASSERT_EQ(table[row + 1].size(), names.size());
    for (std::size_t column = 0; column < names.size(); ++column) {
      const auto cell = expected[row].find(table[0][column].get<std::string>());
      EXPECT_EQ(table[row + 1][column], cell == expected[row].end() ? "" : cell->second) << row << ' ' << column;
    }
  }
}

TEST(CsvTest, AContinuedTableMayGrowToo) {
  TemporaryDirectory directory;
  for (const char* column : {"a", "b", "c"}) {
    CsvFile file(directory / "t.csv");
    file.set(column, "1");
    file.end_row();
    file.flush();
  }
  EXPECT_EQ(read_file(directory / "t.csv"), "a,b,c\r\n1,,\r\n,1,\r\n,,1\r\n");
}

TEST(CsvTest, LinesOfAnotherSystemAreUnderstood) {
  TemporaryDirectory directory;
  write_file(directory / "t.csv", "a\n1\n");
  CsvFile file(directory / "t.csv");
  file.set("b", "2");
  file.end_row();
  file.flush();
  EXPECT_EQ(read_file(directory / "t.csv"), "a,b\r\n1,\r\n,2\r\n");
}

TEST(CsvSinkTest, WritesOneTablePerStageWithExactNumbers) {
  TemporaryDirectory directory;
  CsvSink sink(directory.path());
  sink.on(Metrics{.step = 1,
                  .epoch = 0,
                  .stage = "train",
                  .time_ns = 1'500'000'000,
                  .samples = 12,
                  .unit = "token",
                  .units = 768,
                  .values = {{"loss", 1.0 / 3}, {"step", 5}}});
  sink.on(Metrics{.step = 1,
                  .stage = "validate",
                  .time_ns = 2'000'000'000,
                  .unit = "sample",
                  .values = {{"loss", std::numeric_limits<double>::quiet_NaN()}}});
  sink.flush();
  EXPECT_EQ(read_file(directory / "metrics_train.csv"),
            "step,epoch,time,samples,tokens,loss,value_step\r\n1,0,1.500000,12,768,0.3333333333333333,5\r\n");
  EXPECT_EQ(read_file(directory / "metrics_validate.csv"), "step,epoch,time,samples,loss\r\n1,0,2.000000,0,nan\r\n");
}

TEST(CsvSinkTest, StagesWithTheSameFileNameShareATable) {
  TemporaryDirectory directory;
  CsvSink sink(directory.path());
  sink.on(Metrics{.step = 1, .stage = "a/b"});
  sink.on(Metrics{.step = 2, .stage = "a_b"});
  sink.flush();
  EXPECT_EQ(read_file(directory / "metrics_a_b.csv"),
            "step,epoch,time,samples\r\n1,0,0.000000,0\r\n2,0,0.000000,0\r\n");
}

TEST(CsvSinkTest, AStageCannotLeaveTheDirectory) {
  EXPECT_EQ(file_name_part("../../etc/passwd"), "______etc_passwd");
  EXPECT_EQ(file_name_part(""), "unnamed");
}

}  // namespace
}  // namespace trainyard
