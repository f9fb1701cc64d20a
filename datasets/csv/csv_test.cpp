// SPDX-License-Identifier: Apache-2.0
#include "datasets/csv/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/testing/python.h"
#include "datasets/testing/dataset_testing.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::Opened;
using testing::read_sample;
using testing::TemporaryFolder;
using testing::values;

using Floats = std::vector<float>;

/// Returns parameters with which all rows are in the split "train", unless `more` changes that.
std::string parameters(const std::string& path, const std::string& more = R"(, "validate_fraction": 0)") {
  return fmt::format(R"({{"path": "{}"{}}})", path, more);
}

/// Returns the code and the message of the error that the dataset throws when it opens a file with this text.
std::pair<Code, std::string> refusal(const std::string& text, const std::string& more = "") {
  TemporaryFolder folder;
  const std::string path = folder.write("d.csv", text);
  auto error = error_of([&] { Opened<Csv> data(parameters(path, more)); });
  const std::size_t at = error.second.find(path);
  if (at != std::string::npos) error.second.replace(at, path.size(), "d.csv");
  return error;
}

TEST(CsvTest, TheLastColumnIsTheClassUnlessTold) {
  TemporaryFolder folder;
  const std::string path = folder.write("d.csv", "a,b,c\n1,2.5,0\n-3e-1,+4,2\n");
  Opened<Csv> data(parameters(path));
  EXPECT_EQ(values<float>(read_sample(*data, "train", 1)[0]), Floats({-0.3f, 4}));
  EXPECT_EQ(values<std::int64_t>(read_sample(*data, "train", 1)[1])[0], 2);
  EXPECT_EQ(data->info().classes, 3u);
  EXPECT_THAT(data->info().fields[0].shape, ElementsAre(2));
  Opened<Csv> other(parameters(folder.write("e.csv", "a,b,c\n1,7,3\n0,8,4\n"),
                               R"(, "target": ["a"], "columns": ["c", "b"], "validate_fraction": 0)"));
  EXPECT_EQ(values<float>(read_sample(*other, "train", 0)[0]), Floats({3, 7}));
  EXPECT_EQ(values<std::int64_t>(read_sample(*other, "train", 0)[1])[0], 1);
}

TEST(CsvTest, WithoutHeaderColumnsAreNumberedAndSeparatorsCanDiffer) {
  TemporaryFolder folder;
  Opened<Csv> data(parameters(folder.write("d.csv", "1;\"2\"\n 0 ;4\n"),
                              R"(, "header": false, "separator": ";", "target": ["0"], "validate_fraction": 0)"));
  EXPECT_EQ(data->info().splits[0].samples, 2u);
  EXPECT_EQ(values<float>(read_sample(*data, "train", 0)[0]), Floats({2}));
  EXPECT_EQ(values<std::int64_t>(read_sample(*data, "train", 1)[1])[0], 0);
}

TEST(CsvTest, ClassesMayHaveNames) {
  TemporaryFolder folder;
  Opened<Csv> data(parameters(folder.write("d.csv", "x,kind\n1,b c\n2,a\n3,\"b c\"\n"),
                              R"(, "labels": "names", "validate_fraction": 0)"));
  EXPECT_THAT(data->info().vocabulary, ElementsAre("a", "b c"));
  EXPECT_EQ(data->info().classes, 2u);
  EXPECT_EQ(values<std::int64_t>(read_sample(*data, "train", 0)[1])[0], 1);
  EXPECT_EQ(values<std::int64_t>(read_sample(*data, "train", 1)[1])[0], 0);
}

TEST(CsvTest, RegressionMayHaveSeveralTargets) {
  TemporaryFolder folder;
  Opened<Csv> data(parameters(folder.write("d.csv", "y,x,z\n1,2,3\n4,5,6\n"),
                              R"(, "task": "regression", "target": ["z", "y"], "validate_fraction": 0)"));
  EXPECT_EQ(data->info().classes, 0u);
  EXPECT_EQ(data->info().fields[1].dtype, static_cast<std::uint8_t>(DType::kFloat32));
  EXPECT_EQ(values<float>(read_sample(*data, "train", 1)[1]), Floats({6, 4}));
  EXPECT_EQ(values<float>(read_sample(*data, "train", 1)[0]), Floats({5}));
}

TEST(CsvTest, EveryRowIsInOneSplitAndTheDivisionDependsOnItsOwnSeedAlone) {
  TemporaryFolder folder;
  std::string text = "x,y\n";
  for (int i = 0; i < 100; ++i) text += fmt::format("{},0\n", i);
  const std::string path = folder.write("d.csv", text);
  const auto split = [&](const char* name, const char* more, std::uint64_t seed) {
    Opened<Csv> data(parameters(path, more), seed);
    Floats rows;
    const std::uint64_t samples = data->info().splits[std::string_view(name) == "train" ? 0 : 1].samples;
    for (std::uint64_t i = 0; i < samples; ++i) rows.push_back(values<float>(read_sample(*data, name, i)[0])[0]);
    return rows;
  };
  const Floats drawn = split("validate", R"(, "validate_fraction": 0.25)", 1);
  EXPECT_EQ(drawn.size(), 25u);
  EXPECT_EQ(split("validate", R"(, "validate_fraction": 0.25)", 2), drawn);
  EXPECT_NE(split("validate", R"(, "validate_fraction": 0.25, "split_seed": 1)", 1), drawn);
  Floats all = split("train", R"(, "validate_fraction": 0.25)", 1);
  all.insert(all.end(), drawn.begin(), drawn.end());
  std::ranges::sort(all);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(split("validate", R"(, "validate_fraction": 0.02, "split": "tail")", 1), Floats({98, 99}));
}

TEST(CsvTest, NumbersAreThoseThatNumpyReads) {
  if (!testing::python_has("numpy")) GTEST_SKIP() << "needs /usr/bin/python3 with numpy (Debian: python3-numpy)";
  TemporaryFolder folder;
  const std::string bits = testing::python(R"(
import numpy, sys
table = numpy.random.default_rng(7).normal(size=(200, 3)) * 10.0 ** numpy.random.default_rng(8).integers(-20, 20, (200, 3))
numpy.savetxt(sys.argv[1], table, delimiter=",", header="a,b,c", comments="")
read = numpy.loadtxt(sys.argv[1], delimiter=",", skiprows=1).astype(numpy.float32)
print(*read.view(numpy.uint32).ravel(), end="")
)",
                                           folder.path("d.csv"));
  Opened<Csv> data(parameters(folder.path("d.csv"), R"(, "task": "regression", "validate_fraction": 0)"));
  std::vector<std::uint32_t> ours;
  for (std::uint64_t row = 0; row < 200; ++row) {
    const auto sample = read_sample(*data, "train", row);
    for (const Tensor& field : sample) {
      for (const std::uint32_t value : values<std::uint32_t>(field)) ours.push_back(value);
    }
  }
  EXPECT_EQ(fmt::format("{}", fmt::join(ours, " ")), bits);
}

TEST(CsvTest, ARaggedRowIsNamedWithFileLineAndOffset) {
  const auto shorter = refusal("a,b,c\n1,2,0\n3,0\n5,6,0\n");
  EXPECT_EQ(shorter.first, Code::kCorrupt);
  EXPECT_EQ(shorter.second, "d.csv line 3 at offset 12: 2 cells; allowed: 3, as the first line has");
  EXPECT_EQ(refusal("a,b\n1,2\n3,4,5\n").second,
            "d.csv line 3 at offset 8: 3 cells; allowed: 2, as the first line has");
}

TEST(CsvTest, WhatIsNoNumberIsNamedWithItsColumn) {
  for (const char* cell : {"x", "", "1 2", "1,5", "nan", "inf", "1e99", "0x1", "--1"}) {
    const auto [code, message] = refusal(fmt::format("a,b\n1,0\n\"{}\",0\n", cell));
    EXPECT_EQ(code, Code::kCorrupt) << cell;
    EXPECT_EQ(
        message,
        fmt::format("d.csv line 3 at offset 9: '{}' in the column 'a'; allowed: a finite number of 32 bits", cell));
  }
}

TEST(CsvTest, WhatIsNoClassIsNamed) {
  for (const char* cell : {"-1", "0.5", "1048576", "cat", "99999999999999999999"}) {
    EXPECT_THAT(
        refusal(fmt::format("a,b\n1,{}\n", cell)).second,
        HasSubstr(fmt::format("d.csv line 2 at offset 6: '{}' in the column 'b'; allowed: a class 0, 1,", cell)));
  }
  EXPECT_THAT(refusal("a,b\n1,\n", R"(, "labels": "names")").second, HasSubstr("allowed: the name of a class"));
}

TEST(CsvTest, MistakesInTheParametersAreNamed) {
  EXPECT_THAT(refusal("alpha,b\n1,2\n", R"(, "target": ["alhpa"])").second,
              HasSubstr("d.csv has no column 'alhpa'; did you mean 'alpha'?"));
  EXPECT_THAT(refusal("a,b\n1,2\n", R"(, "target": ["a", "b"])").second, HasSubstr("2 target columns; allowed: one"));
  EXPECT_THAT(refusal("a\n1\n").second, HasSubstr("none is left to learn from"));
  EXPECT_THAT(refusal("a,b\n").second, HasSubstr("of the 0 rows of d.csv none is left"));
  EXPECT_THAT(refusal("").second, HasSubstr("d.csv at offset 0: there is no row"));
  EXPECT_THAT(refusal("a,a\n1,2\n").second, HasSubstr("line 1 at offset 2: a second column is called 'a'"));
  EXPECT_THAT(refusal("a,b\n1,2\n", R"(, "separator": "::")").second,
              HasSubstr("separator = \"::\"; allowed: one byte"));
  EXPECT_EQ(error_of([] { Opened<Csv> data(R"({"path": "/nowhere.csv"})"); }).first, Code::kNotFound);
}

TEST(CsvTest, SamplesBeyondTheSplitAreRefused) {
  TemporaryFolder folder;
  Opened<Csv> data(parameters(folder.write("d.csv", "a,b\n1,0\n")));
  EXPECT_THAT(error_of([&] { read_sample(*data, "train", 1); }).second, HasSubstr("no sample 1"));
  EXPECT_THAT(error_of([&] { read_sample(*data, "test", 0); }).second, HasSubstr("'test', which has 0"));
}

}  // namespace
}  // namespace trainyard
