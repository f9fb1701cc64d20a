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

/// Returns the events of a file, as the Python reader decodes them.
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
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);              // This is the check value of CRC-32C.
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
  const std::string text(300, 'x');  // The length of this text takes more than one byte.
  sink.on(Prediction{.step = 2, .title = "sample", .text = text});
  sink.on(Prediction{.step = 3, .title = "image"});  // This has nothing to read.
  sink.flush();
  const auto events = decode(sink.path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1]["tag"], "predict/sample");
  EXPECT_EQ(events[1]["plugin"], "text");
  EXPECT_EQ(events[1]["dtype"], 7);  // DT_STRING
  EXPECT_EQ(events[1]["size"], 1);
  EXPECT_EQ(events[1]["text"], text);
}

TEST_F(TensorboardTest, WhatIsNotFiniteIsKept) {
  TensorboardSink sink(directory_.path());
  sink.on(Metrics{.stage = "train", .values = {{"loss", std::numeric_limits<double>::infinity()}, {"low", 1e300}}});
  sink.flush();
  // The reader prints values as Python does. JSON has no word for this one, so the text is compared.
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
