// SPDX-License-Identifier: Apache-2.0
#include "components/logger/jsonl_sink.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "components/logger/test_files.h"

namespace trainyard {
namespace {

using nlohmann::json;
using testing::TemporaryDirectory;

class JsonlSinkTest : public ::testing::Test {
 protected:
  /// Parses every line with a JSON library.
  std::vector<json> lines() {
    sink_.flush();
    std::vector<json> all;
    std::istringstream text(testing::read_file(directory_ / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) all.push_back(json::parse(line));
    return all;
  }

  TemporaryDirectory directory_;
  JsonlSink sink_{directory_ / "metrics.jsonl"};
};

TEST_F(JsonlSinkTest, MetricsCarryExactNumbers) {
  sink_.on(Metrics{.step = 7,
                   .total_steps = 20,
                   .epoch = 1,
                   .stage = "train",
                   .time_ns = 1'732'176'886'123'456'789,
                   .samples = 84,
                   .unit = "token",
                   .units = 5376,
                   .values = {{"loss", 1.0 / 3}, {"lr", 1e-3}}});
  const json line = lines().at(0);
  EXPECT_EQ(line["kind"], "metrics");
  EXPECT_EQ(line["stage"], "train");
  EXPECT_EQ(line["step"], 7);
  EXPECT_EQ(line["total_steps"], 20);
  EXPECT_EQ(line["units"], 5376);
  EXPECT_DOUBLE_EQ(line["time"], 1732176886.123456);
  EXPECT_EQ(line["values"]["loss"].get<double>(), 1.0 / 3);
  EXPECT_EQ(line["values"]["lr"].get<double>(), 1e-3);
  EXPECT_FALSE(line.contains("not_finite"));
}

TEST_F(JsonlSinkTest, WhatIsNotFiniteIsNullAndNamed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  sink_.on(Metrics{
      .stage = "train",
      .values = {
          {"loss", std::numeric_limits<double>::quiet_NaN()}, {"lr", 0.5}, {"norm", kInfinity}, {"low", -kInfinity}}});
  const json line = lines().at(0);
  EXPECT_EQ(line["values"], json({{"loss", nullptr}, {"lr", 0.5}, {"norm", nullptr}, {"low", nullptr}}));
  EXPECT_EQ(line["not_finite"], json({{"loss", "NaN"}, {"norm", "Infinity"}, {"low", "-Infinity"}}));
}

TEST_F(JsonlSinkTest, EveryKindOfMessageIsALineOfItsOwn) {
  sink_.on(Metrics{.stage = "predict"});
  sink_.on(ModelInfo{.model = "gpt", .device = "cpu", .precision = "32-true", .parameters = 808'000});
  sink_.on(DatasetInfo{.dataset = "text", .splits = {{.name = "train", .samples = 5}, {.name = "validate"}}});
  sink_.on(Prediction{.step = 3, .title = "sample", .text = "To be\nor \xff not"});
  sink_.on(CheckpointDone{.step = 3, .path = "/c", .bytes = 9, .error = "disk full"});
  sink_.on(LogRecord{.time_ns = 1, .level = LogLevel::kInfo, .component = "optimizer", .text = "hello"});
  const auto all = lines();
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[1]["parameters"], 808'000);
  EXPECT_EQ(all[2]["splits"], json({{"train", 5}, {"validate", 0}}));
  EXPECT_EQ(all[3]["text"], "To be\nor \xef\xbf\xbd not");
  EXPECT_EQ(all[4]["error"], "disk full");
  EXPECT_EQ(all[5]["component"], "optimizer");
}

TEST_F(JsonlSinkTest, ADoubleReadsBackBitForBit) {
  std::mt19937_64 random(1);
  Metrics metrics{.stage = "train"};
  for (int i = 0; i < 2000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) metrics.values.push_back({"v" + std::to_string(i), value});
  }
  sink_.on(metrics);
  const json line = lines().at(0);
  for (const Scalar& scalar : metrics.values) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(line["values"][scalar.name].get<double>()),
              std::bit_cast<std::uint64_t>(scalar.value));
  }
}

TEST_F(JsonlSinkTest, MessagesWithoutAnythingInThemAreValidToo) {
  sink_.on(Metrics{});
  sink_.on(ModelInfo{});
  sink_.on(DatasetInfo{});
  sink_.on(Prediction{});
  sink_.on(CheckpointDone{});
  sink_.on(LogRecord{});
  const auto all = lines();
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0]["values"], json::object());
  EXPECT_EQ(all[2]["splits"], json::object());
}

TEST(JsonlSinkContinueTest, ATornLastLineIsCutBeforeContinuing) {
  TemporaryDirectory directory;
  const std::string path = directory / "metrics.jsonl";
  testing::write_file(path, "{\"kind\":\"log\"}\n{\"kind\":\"me");
  JsonlSink sink(path);
  sink.on(LogRecord{});
  sink.flush();
  const std::string text = testing::read_file(path);
  EXPECT_TRUE(text.starts_with("{\"kind\":\"log\"}\n{\"kind\":\"log\",\"time\":0.000000")) << text;
}

}  // namespace
}  // namespace trainyard
