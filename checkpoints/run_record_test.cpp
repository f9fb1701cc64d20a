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
          .skipped_steps = 4,
          .ranks = 2,
          .metrics = {{"loss", 1.0 / 3}, {"accuracy", 0.5}},
          .states = {{.owner = "early_stopping", .values = R"({"best":0.5,"tags":["a",{"b":1}]})"},
                     {.owner = "strategy/ddp", .rank = 1, .per_rank = true, .tensors = {{"error", {}}, {"q", {}}}}},
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
  EXPECT_EQ(after.cursor.samples, before.cursor.samples);
  EXPECT_EQ(after.cursor_batches, 0u);
  EXPECT_EQ(after.skipped_steps, 4u);
  EXPECT_EQ(after.ranks, 2u);
  ASSERT_EQ(after.metrics.size(), 2u);
  EXPECT_EQ(after.metrics[0].name, "loss");
  EXPECT_EQ(after.metrics[0].value, 1.0 / 3);
  ASSERT_EQ(after.states.size(), 2u);
  EXPECT_EQ(after.states[0].owner, "early_stopping");
  EXPECT_EQ(after.states[0].values, before.states[0].values);
  EXPECT_FALSE(after.states[0].per_rank);
  EXPECT_EQ(after.states[1].rank, 1u);
  ASSERT_EQ(after.states[1].tensors.size(), 2u);
  EXPECT_EQ(state_tensor_name(after.states[1], after.states[1].tensors[0].name), "rank1/strategy/ddp/error");
  EXPECT_EQ(after.hyperparameters, before.hyperparameters);
  EXPECT_EQ(after.time, before.time);
}

/// Returns a record in the form that version 0.1 wrote.
nlohmann::json format_1() {
  nlohmann::json root = nlohmann::json::parse(format_run_record(example()));
  for (const char* key : {"ranks", "skipped_steps", "states"}) root.erase(key);
  root["cursor"] = {{"epoch", 3}, {"batch", 17}};
  root["rng"] = "00ff10";
  root["host_state"] =
      nlohmann::json::parse(R"([{"name":"loss_scale","value":32768},{"name":"skipped_steps","value":4}])");
  return root;
}

TEST(RunRecordTest, ARecordOfFormat1IsRead) {
  const RunRecord record = parse_run_record(format_1().dump(), "run.json");
  EXPECT_EQ(record.cursor.epoch, 3u);
  EXPECT_EQ(record.cursor_batches, 17u);
  EXPECT_EQ(record.skipped_steps, 4u);
  ASSERT_EQ(record.states.size(), 2u);
  EXPECT_EQ(record.states[0].owner, "random_numbers");
  const auto generator = record.states[0].tensors.at(0).data.as<std::uint8_t>();
  EXPECT_EQ(std::vector<std::uint8_t>(generator.begin(), generator.end()), (std::vector<std::uint8_t>{0, 255, 16}));
  EXPECT_EQ(record.states[1].owner, "loss_scale");
  EXPECT_EQ(record.states[1].values, R"({"loss_scale":32768.0,"skipped_steps":4.0})");
}

TEST(RunRecordTest, AnOlderRecordWithoutHostStateIsRead) {
  nlohmann::json root = format_1();
  root.erase("host_state");
  EXPECT_EQ(parse_run_record(root.dump(), "run.json").states.size(), 1u);
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
  EXPECT_EQ(changed("metrics", 3), "run.json: 'metrics' is not a list");
  EXPECT_EQ(changed("states", 3), "run.json: 'states' is not a list");
  EXPECT_EQ(changed("states", {{{"owner", 3}}}), "run.json: 'owner' is 3; allowed is a string");
  nlohmann::json old = format_1();
  old["rng"] = "xyz0";
  EXPECT_EQ(error_of([&] { parse_run_record(old.dump(), "run.json"); }),
            "run.json: 'rng': 4 characters that are not pairs of the digits 0-9a-f");
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
