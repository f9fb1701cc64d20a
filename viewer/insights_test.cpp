// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "messages/json.h"
#include "viewer/book.h"
#include "viewer/run_file.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

/// Builds a histogram of the values according to the definition of a bucket.
Histogram histogram_of(const std::vector<double>& values, double width, const std::string& name = "w") {
  Histogram made{.name = name, .elements = values.size(), .width = width};
  const auto bucket = [&](double value) { return static_cast<std::int64_t>(std::floor(value / width)); };
  made.smallest = *std::ranges::min_element(values);
  made.largest = *std::ranges::max_element(values);
  made.first = bucket(made.smallest);
  made.counts.resize(static_cast<std::size_t>(bucket(made.largest) - made.first + 1));
  for (const double value : values) ++made.counts[static_cast<std::size_t>(bucket(value) - made.first)];
  made.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - made.mean) * (value - made.mean);
  made.deviation = std::sqrt(squares / static_cast<double>(values.size()));
  return made;
}

std::vector<double> random_values(std::size_t count, double centre, double spread) {
  static std::mt19937 random(1);
  std::normal_distribution<double> normal(centre, spread);
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

/// `launch` distinguishes the reports of several launches about one step.
Histograms report(std::uint64_t step, std::vector<Histogram> histograms, std::uint32_t rank = 0, int launch = 0) {
  return {.rank = rank,
          .ranks = 2,
          .step = step,
          .time_ns = static_cast<std::int64_t>(step) * 1'000'000 + launch,
          .histograms = std::move(histograms)};
}

TEST(HistogramShelfTest, TheSumOfTwoHistogramsIsThatOfAllValues) {
  std::vector<double> some = random_values(500, -0.3, 0.1);
  const std::vector<double> others = random_values(300, 5, 1);
  Histogram sum = histogram_of(some, 0x1p-6);
  add_to(sum, histogram_of(others, 0x1p-3));
  some.insert(some.end(), others.begin(), others.end());
  const Histogram expected = histogram_of(some, sum.width);
  EXPECT_EQ(sum.counts, expected.counts);
  EXPECT_EQ(sum.first, expected.first);
  EXPECT_EQ(sum.elements, 800u);
  EXPECT_EQ(sum.smallest, expected.smallest);
  EXPECT_EQ(sum.largest, expected.largest);
  EXPECT_NEAR(sum.mean, expected.mean, 1e-12);
  EXPECT_NEAR(sum.deviation, expected.deviation, 1e-12);
  EXPECT_LE(sum.counts.size(), Histogram::kMaxBuckets);
}

TEST(HistogramShelfTest, AllStepsOfATensorGetTheSameBuckets) {
  HistogramShelf shelf;
  const std::vector<double> narrow = random_values(400, 0, 0.01), wide = random_values(400, 0, 2);
  EXPECT_TRUE(shelf.add(report(10, {histogram_of(narrow, 0x1p-10)})));
  EXPECT_TRUE(shelf.add(report(20, {histogram_of(wide, 0x1p-2)})));
  EXPECT_FALSE(shelf.add(report(20, {histogram_of(wide, 0x1p-2)}))) << "it has been told already";
  const json series = shelf.series(HistogramOf::kWeights, "w", 16);
  EXPECT_EQ(series["steps"], json({10, 20}));
  const double width = series["width"];
  for (const auto& [row, values] : {std::pair(0, narrow), std::pair(1, wide)}) {
    const Histogram expected = histogram_of(values, width);
    std::vector<std::uint64_t> counts = series["counts"][static_cast<std::size_t>(row)];
    EXPECT_LE(counts.size(), 16u);
    const auto lead = static_cast<std::size_t>(expected.first - series["first"].get<std::int64_t>());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const bool inside = i >= lead && i - lead < expected.counts.size();
      EXPECT_EQ(counts[i], inside ? expected.counts[i - lead] : 0u) << row << " " << i;
    }
  }
}

TEST(HistogramShelfTest, BucketsBelowZeroAreJoinedAsWell) {
  HistogramShelf shelf;
  shelf.add(report(10, {histogram_of({-4, -3}, 1)}));
  shelf.add(report(20, {histogram_of({-8, 8}, 2)}));
  const json series = shelf.series(HistogramOf::kWeights, "w", 64);
  EXPECT_EQ(series["first"], -4);
  EXPECT_EQ(series["counts"], json({{0, 0, 2, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0, 1}}));
}

TEST(HistogramShelfTest, ThePartsOfAllRanksAreOneTensor) {
  HistogramShelf shelf;
  shelf.add(report(10, {histogram_of({1, 2, 3}, 1)}));
  shelf.add(report(10, {histogram_of({3, 4}, 1)}, 1));
  const json series = shelf.series(HistogramOf::kWeights, "w", 64);
  EXPECT_EQ(series["counts"], json({{1, 1, 2, 1}}));
  EXPECT_EQ(series["elements"], json({5}));
}

TEST(HistogramShelfTest, AStepThatALaterLaunchRepeatsIsReplaced) {
  HistogramShelf shelf;
  for (int launch = 0; launch < 3; ++launch) {
    shelf.add(report(10, {histogram_of({1, 2, 3}, 1)}, 0, launch));
    shelf.add(report(10, {histogram_of({3, 4}, 1)}, 1, launch));
  }
  const json series = shelf.series(HistogramOf::kWeights, "w", 64);
  EXPECT_EQ(series["counts"], json({{1, 1, 2, 1}}));
  EXPECT_EQ(series["elements"], json({5}));
  Histograms of_one_rank = report(10, {histogram_of({1, 1}, 1)}, 0, 3);
  of_one_rank.ranks = 1;
  shelf.add(of_one_rank);
  EXPECT_EQ(shelf.series(HistogramOf::kWeights, "w", 64)["counts"], json({{2}}));
}

TEST(HistogramShelfTest, WhatContradictsItselfIsLeftOut) {
  const Histogram good = histogram_of({1, 2}, 1, "good");
  std::vector<Histogram> strange(7, good);
  for (Histogram& each : strange) each.name = "strange";
  strange[0].width = 0.3;
  strange[1].width = -1;
  strange[2].width = std::numeric_limits<double>::quiet_NaN();
  strange[3].first = std::numeric_limits<std::int64_t>::min();
  strange[4].counts.resize(65);
  strange[5].mean = std::numeric_limits<double>::infinity();
  strange[6].not_finite = 3;
  strange.push_back(good);
  HistogramShelf shelf;
  shelf.add(report(1, strange));
  ASSERT_EQ(shelf.list().size(), 1u);
  EXPECT_EQ(shelf.list()[0]["name"], "good");
}

TEST(HistogramShelfTest, TheLargestDifferencesOfScaleStayExact) {
  HistogramShelf shelf;
  Histogram tiny{.name = "w", .elements = 1, .width = 0x1p-1000, .first = -(std::int64_t{1} << 49), .counts = {1}};
  Histogram huge{.name = "w", .elements = 1, .width = 0x1p900, .first = std::int64_t{1} << 49, .counts = {1}};
  shelf.add(report(1, {tiny}));
  shelf.add(report(2, {huge}));
  const json series = shelf.series(HistogramOf::kWeights, "w", 64);
  EXPECT_LE(series["counts"][0].size(), 64u);
  EXPECT_TRUE(series["width"].is_number());
  EXPECT_EQ(series["counts"][0].front(), 1);
  EXPECT_EQ(series["counts"][1].back(), 1);
}

TEST(HistogramShelfTest, ALongRunKeepsEverySecondStep) {
  HistogramShelf shelf;
  const Histogram one = histogram_of({1, 2}, 1);
  for (std::uint64_t step = 1; step <= HistogramShelf::kMaxEntries + 1; ++step) shelf.add(report(step, {one}));
  const json list = shelf.list();
  EXPECT_LE(list[0]["steps"], HistogramShelf::kMaxEntries / 2 + 1);
  EXPECT_GE(list[0]["last_step"], HistogramShelf::kMaxEntries);
}

TEST(HistogramShelfTest, AnUnknownNameIsAnsweredWithTheNearestOne) {
  HistogramShelf shelf;
  shelf.add(report(1, {histogram_of({1}, 1, "hidden.weight")}));
  const auto [code, text] =
      trainyard::testing::error_of([&] { shelf.series(HistogramOf::kWeights, "hiden.weight", 64); });
  EXPECT_EQ(code, Code::kNotFound);
  EXPECT_EQ(
      text,
      "the run has no histogram of weights named 'hiden.weight'; did you mean 'hidden.weight'? known: hidden.weight");
}

/// `evaluation` distinguishes several evaluations at one step.
Confusion confusion(std::uint64_t step, std::vector<std::uint64_t> counts, std::uint32_t rank = 0, int evaluation = 0) {
  return {.rank = rank,
          .ranks = 2,
          .step = step,
          .split = "validate",
          .time_ns = static_cast<std::int64_t>(step * 10 + rank) + evaluation * 2,
          .classes = {"cat", "dog"},
          .counts = std::move(counts)};
}

TEST(ConfusionShelfTest, TheCountsOfAllRanksAreAdded) {
  ConfusionShelf shelf;
  EXPECT_TRUE(shelf.add(confusion(1, {1, 2, 3, 4})));
  EXPECT_TRUE(shelf.add(confusion(1, {1, 0, 0, 1}, 1)));
  EXPECT_FALSE(shelf.add(confusion(1, {1, 0, 0, 1}, 1))) << "it has been told already";
  shelf.add(confusion(2, {5, 0, 0, 5}));
  EXPECT_FALSE(shelf.add(confusion(3, {1, 2, 3})));
  const json newest = shelf.matrix("", {});
  EXPECT_EQ(newest["step"], 2);
  EXPECT_EQ(newest["steps"], json({1, 2}));
  EXPECT_EQ(newest["classes"], json({"cat", "dog"}));
  EXPECT_EQ(shelf.matrix("validate", 1)["counts"], json({2, 2, 3, 5}));
  EXPECT_EQ(trainyard::testing::error_of([&] { shelf.matrix("validate", 7); }).second,
            "the run has no confusion matrix of the split 'validate' after step 7");
  EXPECT_EQ(trainyard::testing::error_of([&] { shelf.matrix("test", {}); }).first, Code::kNotFound);
}

TEST(ConfusionShelfTest, AnEvaluationThatIsRepeatedAtTheSameStepReplacesTheFirst) {
  ConfusionShelf shelf;
  shelf.add(confusion(1, {1, 2, 3, 4}, 0));
  shelf.add(confusion(1, {1, 0, 0, 1}, 1));
  shelf.add(confusion(1, {0, 1, 0, 0}, 1, 1));
  shelf.add(confusion(1, {5, 0, 0, 5}, 0, 1));
  EXPECT_EQ(shelf.matrix("validate", 1)["counts"], json({5, 1, 0, 5}));
}

TEST(ConfusionShelfTest, TheOldestAreForgotten) {
  ConfusionShelf shelf;
  for (std::uint64_t step = 1; step <= ConfusionShelf::kMaxMatrices + 5; ++step)
    shelf.add(confusion(step, {1, 0, 0, 1}));
  const json newest = shelf.matrix("validate", {});
  EXPECT_EQ(newest["steps"].size(), ConfusionShelf::kMaxMatrices);
  EXPECT_EQ(newest["steps"][0], 6);
}

TEST(BookTest, InsightsAreReadFromTheFileOfTheLogger) {
  const trainyard::testing::TemporaryFolder folder;
  const std::string path = folder.path("insights.jsonl");
  const auto line = [](const char* kind, const std::string& message) {
    return std::string("{\"kind\":\"") + kind + "\",\"time\":1.5,\"message\":" + message + "}\n";
  };
  const SampleResults results{
      .step = 3,
      .split = "validate",
      .samples = {{.index = 4, .right = "7", .predicted = "1", .probability = 0.5, .image = "Zm9v"}}};
  std::ofstream(path) << line("histograms", to_json(report(1, {histogram_of({1, 2}, 1)})))
                      << line("confusion", to_json(confusion(1, {1, 2, 3, 4}))) << line("samples", to_json(results))
                      << line("samples", "{\"step\":\"three\"}") << line("unheard of", "{}");
  Book book({.run = "a"});
  RunFile file(path);
  while (file.read(4096, book)) {
  }
  EXPECT_EQ(file.damaged_lines(), 1u);
  EXPECT_EQ(book.read(&Shelves::histograms).list().size(), 1u);
  EXPECT_EQ(book.read(&Shelves::confusion).matrix("", {})["step"], 1);
  book.add(results);  // The same results arrive as a message, too.
  const json samples = book.read(&Shelves::samples).list({}, 10);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0]["image"], "data:image/png;base64,Zm9v");
  EXPECT_EQ(samples[0]["result"]["predicted"], "1");
}

TEST(ShelvesTest, TellsAPageThatThereAreNewInsights) {
  Shelves run;
  Positions positions = run.positions();
  const std::vector<NewsOf> what{NewsOf::kHistograms, NewsOf::kConfusion};
  run.news(what, positions);
  run.histograms.add(report(5, {histogram_of({1}, 1)}));
  run.confusion.add(confusion(6, {1, 0, 0, 1}));
  EXPECT_THAT(run.news(what, positions), ElementsAre(json{{"push", "histograms"}, {"step", 5}},
                                                     json{{"push", "confusion"}, {"split", "validate"}, {"step", 6}}));
  EXPECT_TRUE(run.news(what, positions).empty());
}

}  // namespace
}  // namespace trainyard::viewer
