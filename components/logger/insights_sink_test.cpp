// SPDX-License-Identifier: Apache-2.0
#include "components/logger/insights_sink.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "components/logger/test_files.h"
#include "messages/json.h"

namespace trainyard {
namespace {

using testing::TemporaryDirectory;

TEST(InsightsSinkTest, WithoutInsightsThereIsNoFile) {
  TemporaryDirectory directory;
  InsightsSink sink(directory / "insights.jsonl");
  sink.on(Metrics{});
  sink.flush();
  EXPECT_FALSE(std::filesystem::exists(directory / "insights.jsonl"));
}

TEST(InsightsSinkTest, EveryLineIsAMessage) {
  TemporaryDirectory directory;
  InsightsSink sink(directory / "insights.jsonl");
  sink.on(Histograms{.step = 3, .time_ns = 1'500'000'000, .histograms = {{.name = "w", .counts = {1, 2}}}});
  sink.on(Confusion{.step = 4, .split = "validate", .classes = {"a", "b"}, .counts = {1, 0, 0, 1}});
  sink.on(SampleResults{.step = 5, .samples = {{.index = 7, .right = "a", .predicted = "b", .probability = 0.5}}});
  sink.flush();
  std::istringstream lines(testing::read_file(directory / "insights.jsonl"));
  std::vector<nlohmann::json> read;
  for (std::string line; std::getline(lines, line);) read.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0]["kind"], "histograms");
  EXPECT_EQ(read[0]["time"], 1.5);
  EXPECT_EQ(from_json<Histograms>(read[0]["message"].dump()).histograms.at(0).counts,
            (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(read[1]["kind"], "confusion");
  EXPECT_EQ(from_json<Confusion>(read[1]["message"].dump()).classes.at(1), "b");
  EXPECT_EQ(read[2]["kind"], "samples");
  EXPECT_EQ(from_json<SampleResults>(read[2]["message"].dump()).samples.at(0).index, 7u);
}

TEST(InsightsSinkTest, ATornLineOfAKilledRunIsRemoved) {
  TemporaryDirectory directory;
  testing::write_file(directory / "insights.jsonl", "{\"kind\":\"hist");
  InsightsSink sink(directory / "insights.jsonl");
  sink.on(Confusion{.split = "validate"});
  sink.flush();
  EXPECT_EQ(nlohmann::json::parse(testing::read_file(directory / "insights.jsonl"))["kind"], "confusion");
}

}  // namespace
}  // namespace trainyard
