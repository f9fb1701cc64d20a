// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "components/logger/tensorboard_event.h"
#include "components/logger/tensorboard_sink.h"
#include "components/logger/test_files.h"

namespace trainyard {
namespace {

using nlohmann::json;
using testing::TemporaryDirectory;

/// Returns the events of a file, decoded by a Python script.
std::vector<json> decode(const std::string& path) {
  const std::string command = "python3 '" TRAINYARD_TFEVENTS_READER "' '" + path + "'";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::vector<json> events;
  std::string line;
  for (int c; (c = std::fgetc(pipe)) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
    } else {
      events.push_back(json::parse(line));
      line.clear();
    }
  }
  EXPECT_EQ(::pclose(pipe), 0) << "the reader refused " << path;
  return events;
}

class TensorboardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c pass >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "python3, the independent reader, is not here";
  }
  TemporaryDirectory directory_;
};

TEST(TensorboardEventTest, ChecksumsAgreeWithThePublishedOnes) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);              // The check value of CRC-32C.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);    // RFC 3720, B.4.
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);  // RFC 3720, B.4.
}

TEST_F(TensorboardTest, AnotherDecoderReadsTheScalars) {
  TensorboardSink sink(directory_.path());
  sink.on(Metrics{.step = 300, .stage = "train", .time_ns = 1'500'000'000, .values = {{"loss", 2.25}, {"lr", 1e-3}}});
  sink.on(Metrics{.step = 5'000'000'000, .stage = "validate", .values = {{"loss", 1.5}}});
  sink.flush();
  const auto events = decode(sink.path());
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0]["version"], "brain.Event:2");
  EXPECT_EQ(events[1], json({{"wall_time", 1.5}, {"step", 300}, {"tag", "train/loss"}, {"value", 2.25}}));
  EXPECT_EQ(events[2]["tag"], "train/lr");
  EXPECT_EQ(events[2]["value"].get<float>(), 1e-3f);
  EXPECT_EQ(events[3]["step"], 5'000'000'000);
  EXPECT_EQ(events[3]["tag"], "validate/loss");
}

TEST_F(TensorboardTest, AnotherDecoderReadsThePredictedText) {
  TensorboardSink sink(directory_.path());
  const std::string text(300, 'x');  // So long that its length is encoded in two bytes.
  sink.on(Prediction{.step = 2, .title = "sample", .text = text});
  sink.on(Prediction{.step = 3, .title = "image"});  // No text, so no event.
  sink.flush();
  const auto events = decode(sink.path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1]["tag"], "predict/sample");
  EXPECT_EQ(events[1]["plugin"], "text");
  EXPECT_EQ(events[1]["dtype"], 7);  // DT_STRING
  EXPECT_EQ(events[1]["shape"], json({1}));
  EXPECT_EQ(events[1]["values"], json({text}));
}

TEST_F(TensorboardTest, AnotherDecoderReadsTheBucketsOfHistograms) {
  TensorboardSink sink(directory_.path());
  const Histogram histogram{
      .name = "hidden.weight", .of = HistogramOf::kGradients, .width = 0.25, .first = -2, .counts = {3, 0, 4}};
  sink.on(Histograms{.step = 20, .time_ns = 2'500'000'000, .histograms = {histogram}});
  sink.on(Histograms{.rank = 1, .ranks = 2, .step = 21, .histograms = {histogram}});
  sink.flush();
  const auto events = decode(sink.path());
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1]["tag"], "gradients/hidden.weight");
  EXPECT_EQ(events[1]["plugin"], "histograms");
  EXPECT_EQ(events[1]["step"], 20);
  EXPECT_EQ(events[1]["wall_time"], 2.5);
  EXPECT_EQ(events[1]["shape"], json({3, 3}));
  EXPECT_EQ(events[1]["values"], json({-0.5, -0.25, 3.0, -0.25, 0.0, 0.0, 0.0, 0.25, 4.0}));
  EXPECT_EQ(events[2]["tag"], "gradients/hidden.weight/rank1");
}

TEST_F(TensorboardTest, TheConfusionOfAllRanksIsOnePictureAndOneTable) {
  TensorboardSink sink(directory_.path());
  Confusion confusion{.ranks = 2, .step = 7, .split = "validate", .classes = {"cat", "d|g"}, .counts = {5, 0, 1, 2}};
  sink.on(confusion);
  confusion.rank = 1;
  confusion.counts = {1, 1, 0, 0};
  sink.on(confusion);
  sink.flush();
  const auto events = decode(sink.path());
  ASSERT_EQ(events.size(), 3u) << "the first rank alone is not shown";
  EXPECT_EQ(events[1]["tag"], "confusion/validate");
  EXPECT_EQ(events[1]["plugin"], "images");
  EXPECT_EQ(events[1]["values"][0], "256");
  EXPECT_NE(events[1]["values"][2].get<std::string>().find("PNG\r\n"), std::string::npos);
  EXPECT_EQ(events[2]["tag"], "confusion/validate/table");
  EXPECT_EQ(events[2]["values"][0],
            "| right \\ predicted | cat | d\\|g |\n|---|---|---|\n| **cat** | 6 | 1 |\n| **d\\|g** | 1 | 2 |\n");
}

TEST_F(TensorboardTest, SamplesAreImagesAndATable) {
  TensorboardSink sink(directory_.path());
  sink.on(SampleResults{.step = 7,
                        .split = "validate",
                        .samples = {{.index = 0, .right = "3", .predicted = "5", .probability = 0.5, .image = "Zm9v"},
                                    {.index = 1, .right = "4", .predicted = "4", .probability = 1, .image = "YmFy"}}});
  sink.flush();
  const auto events = decode(sink.path());
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1]["tag"], "samples/validate");
  EXPECT_EQ(events[1]["shape"], json({4}));
  EXPECT_EQ(events[1]["values"][2], "foo");
  EXPECT_EQ(events[1]["values"][3], "bar");
  EXPECT_EQ(events[2]["tag"], "samples/validate/table");
  EXPECT_EQ(events[2]["values"][0],
            "| sample | right | predicted | probability |\n|---|---|---|---|\n| 0 | 3 | **5** | 0.500 |\n| 1 | 4 | 4 | "
            "1.000 |\n");
}

TEST_F(TensorboardTest, HyperparametersKeepTheirKinds) {
  TensorboardSink sink(directory_.path(), {{"optimizer.lr", 0.25},
                                           {"accelerator_host.model.plugin", "mlp"},
                                           {"logger.csv", true},
                                           {"accelerator_host.model.hidden", {5, 7}}});
  sink.flush();
  const auto events = decode(sink.path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1]["tag"], "_hparams_/session_start_info");
  EXPECT_EQ(events[1]["plugin"], "hparams");
  EXPECT_EQ(events[1]["hyperparameters"], json({{"optimizer.lr", 0.25},
                                                {"accelerator_host.model.plugin", "mlp"},
                                                {"logger.csv", true},
                                                {"accelerator_host.model.hidden", "[5,7]"}}));
}

TEST_F(TensorboardTest, WhatIsNotFiniteIsKept) {
  TensorboardSink sink(directory_.path());
  sink.on(Metrics{.stage = "train", .values = {{"loss", std::numeric_limits<double>::infinity()}, {"low", 1e300}}});
  sink.flush();
  // JSON cannot represent infinity, so the bytes in the file are checked.
  const std::string bytes = testing::read_file(sink.path());
  const float infinity = std::numeric_limits<float>::infinity();
  const std::string pattern(reinterpret_cast<const char*>(&infinity), sizeof infinity);
  EXPECT_NE(bytes.find("train/loss\x15" + pattern), std::string::npos);
  EXPECT_NE(bytes.find("train/low\x15" + pattern), std::string::npos) << "too large for float32";
}

TEST_F(TensorboardTest, StepZeroAndLongTagsAreRead) {
  TensorboardSink sink(directory_.path());
  const std::string name(200, 'n');
  sink.on(Metrics{.step = 0, .stage = "train", .values = {{name, 0.5}}});
  sink.flush();
  const auto events = decode(sink.path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1]["step"], 0);
  EXPECT_EQ(events[1]["tag"], "train/" + name);
}

TEST_F(TensorboardTest, ManyFlushesMakeOneFile) {
  TensorboardSink sink(directory_.path());
  for (std::uint64_t step = 0; step < 300; ++step) {
    sink.on(Metrics{.step = step, .stage = "train", .values = {{"loss", static_cast<double>(step)}}});
    if (step % 7 == 0) sink.flush();
  }
  sink.flush();
  const auto events = decode(sink.path());
  ASSERT_EQ(events.size(), 301u);
  for (std::uint64_t step = 0; step < 300; ++step) EXPECT_EQ(events[step + 1]["value"], static_cast<double>(step));
}

TEST_F(TensorboardTest, EveryRunWritesAFileOfItsOwn) {
  TensorboardSink first(directory_.path()), second(directory_.path());
  EXPECT_NE(first.path(), second.path());
  for (const auto& path : {first.path(), second.path()}) {
    EXPECT_TRUE(std::filesystem::path(path).filename().string().starts_with("events.out.tfevents.")) << path;
  }
}

}  // namespace
}  // namespace trainyard
