// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/run_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "checkpoints/json_input.h"
#include "checkpoints/testing/files.h"

namespace trainyard::checkpoints {
namespace {

using testing::error_of;

RunRecord example() {
  return {.step = 2000,
          .epoch = 3,
          .samples = 24'000,
          .cursor = {3, 17},
          .rng = {0, 255, 16},
          .metrics = {{"loss", 1.0 / 3}, {"accuracy", 0.5}},
          .host_state = {{"loss_scale", 32768}},
          .reason = "interval",
          .model = "gpt",
          .optimizer = "adamw",
          .hyperparameters = {{"beta1", 0.9}},
          .time = utc_now()};
}

TEST(RunRecordTest, ReadsBackExactly) {
  const RunRecord before = example();
  const RunRecord after = parse_run_record(format_run_record(before), "run.json");
  EXPECT_EQ(after.step, before.step);
  EXPECT_EQ(after.epoch, before.epoch);
  EXPECT_EQ(after.samples, before.samples);
  EXPECT_EQ(after.cursor.epoch, before.cursor.epoch);
  EXPECT_EQ(after.cursor.batch, before.cursor.batch);
  EXPECT_EQ(after.rng, before.rng);
  ASSERT_EQ(after.metrics.size(), 2u);
  EXPECT_EQ(after.metrics[0].name, "loss");
  EXPECT_EQ(after.metrics[0].value, 1.0 / 3);
  ASSERT_EQ(after.host_state.size(), 1u);
  EXPECT_EQ(after.host_state[0].name, "loss_scale");
  EXPECT_EQ(after.host_state[0].value, 32768);
  EXPECT_EQ(after.hyperparameters, before.hyperparameters);
  EXPECT_EQ(after.time, before.time);
}

TEST(RunRecordTest, AnOlderRecordWithoutHostStateIsRead) {
  nlohmann::json root = nlohmann::json::parse(format_run_record(example()));
  root.erase("host_state");
  EXPECT_TRUE(parse_run_record(root.dump(), "run.json").host_state.empty());
}

TEST(RunRecordTest, ADivergedRunIsSavedAsItIs) {
  RunRecord record = example();
  const double infinity = std::numeric_limits<double>::infinity();
  record.metrics = {{"loss", std::nan("")}, {"up", infinity}, {"down", -infinity}};
  const RunRecord after = parse_run_record(format_run_record(record), "run.json");
  EXPECT_TRUE(std::isnan(after.metrics[0].value));
  EXPECT_EQ(after.metrics[1].value, infinity);
  EXPECT_EQ(after.metrics[2].value, -infinity);
}

TEST(RunRecordTest, WhatIsMissingOrWrongIsNamed) {
  const auto changed = [](const char* key, const nlohmann::json& value) {
    nlohmann::json root = nlohmann::json::parse(format_run_record(example()));
    if (value.is_discarded())
      root.erase(key);
    else
      root[key] = value;
    return error_of([&] { parse_run_record(root.dump(), "run.json"); });
  };
  EXPECT_EQ(changed("step", nlohmann::json(nlohmann::json::value_t::discarded)), "run.json: 'step' is missing");
  EXPECT_EQ(changed("step", -1), "run.json: 'step' is -1; allowed is a whole number >= 0");
  EXPECT_EQ(changed("model", 3), "run.json: 'model' is 3; allowed is a string");
  EXPECT_EQ(changed("metrics", 3), "run.json: 'metrics' is no list");
  EXPECT_EQ(changed("rng", "xyz0"), "run.json: 'rng': 4 characters that are not pairs of the digits 0-9a-f");
}

TEST(StrictJsonTest, AKeyMayAppearAgainInAnotherObject) {
  EXPECT_EQ(parse_strict_json(R"({"a":{"k":1},"b":{"k":2}})", "f")["b"]["k"], 2);
  EXPECT_EQ(parse_strict_json(R"([{"k":1},{"k":2}])", "f")[1]["k"], 2);
}

TEST(StrictJsonTest, AKeyGivenTwiceIsRefused) {
  EXPECT_EQ(error_of([] { parse_strict_json(R"({"a":{"k":1},"a":2})", "f"); }), "f: the key 'a' is given twice");
  EXPECT_EQ(error_of([] { parse_strict_json(R"({"a":{"k":1,"k":1}})", "f"); }), "f: the key 'k' is given twice");
}

TEST(StrictJsonTest, DepthIsBounded) {
  EXPECT_EQ(error_of([] { parse_strict_json("[[[1]]]", "f", 3); }), "");
  EXPECT_EQ(error_of([] { parse_strict_json("[[[[1]]]]", "f", 3); }), "f: JSON nested more than 3 deep");
}

}  // namespace
}  // namespace trainyard::checkpoints
