// SPDX-License-Identifier: Apache-2.0
// Tests `trainyard trace`, `trainyard profile` and recordings of spans with real runs.

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::TrainingTest;

/// Reads a span independently of the code of the command.
struct Seen {
  std::int64_t begin = 0, end = 0;
};

class SpansOfRunTest : public TrainingTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void launch() {
    training_ = train("run", {std::string("placement=") + GetParam()});
    ASSERT_TRUE(eventually([&] { return !steps("run").empty(); })) << training_->all();
  }

  json json_of(const std::vector<std::string>& arguments) {
    const auto command = run(arguments);
    EXPECT_EQ(command->wait(), 0) << command->all();
    return json::parse(command->out(), nullptr, false);
  }

  std::unique_ptr<testing::Command> training_;
};

INSTANTIATE_TEST_SUITE_P(Placements, SpansOfRunTest, ::testing::Values("composed", "processes"));

/// Returns the times of a component's spans of one kind. An empty `name` or `peer` matches any.
Seen find(const json& batch, const std::string& kind, const std::string& component, const std::string& name,
          const std::string& peer = "") {
  for (const json& span : batch["spans"]) {
    if (span["kind"] != kind || span["component"] != component || span["name"] != name) continue;
    if (peer.empty() || span["peer"] == peer) return {span["begin_ns"], span["end_ns"]};
  }
  ADD_FAILURE() << "no " << kind << " " << name << " of " << component << " in " << batch.dump(1);
  return {};
}

TEST_P(SpansOfRunTest, ABatchIsFollowedFromTheLoaderToTheNewParametersAndInOrder) {
  launch();
  const json traced = json_of({"trace", "--json"});
  ASSERT_EQ(traced["batches"].size(), 1u);
  const json& batch = traced["batches"][0];
  EXPECT_GT(batch["step"], 0u);
  EXPECT_EQ(batch["rank"], 0u);
  const Seen reading = find(batch, "read", "data_loader", "read");
  const Seen arrives = find(batch, "hop", "accelerator_host", "Batch", "data_loader");
  const Seen forward = find(batch, "forward", "accelerator_host", "forward");
  const Seen backward = find(batch, "backward", "accelerator_host", "backward");
  const Seen gradients = find(batch, "hop", "optimizer", "Gradients", "accelerator_host");
  const Seen update = find(batch, "update", "optimizer", "update");
  const Seen parameters = find(batch, "hop", "accelerator_host", "Parameters", "optimizer");
  EXPECT_LE(reading.end, arrives.end);
  EXPECT_LE(arrives.end, forward.begin);
  EXPECT_LE(forward.end, backward.begin);
  EXPECT_LE(backward.end, gradients.end);
  EXPECT_LE(gradients.end, update.begin);
  EXPECT_LE(update.end, parameters.end);
  EXPECT_EQ(batch["begin_ns"], reading.begin);
}

TEST_P(SpansOfRunTest, TheProfileAddsUpForEveryComponent) {
  launch();
  const json profile = json_of({"profile", "--steps", "100", "--json"});
  EXPECT_EQ(profile["last_step"].get<int>() - profile["first_step"].get<int>(), 99);
  std::set<std::string> components;
  for (const json& component : profile["components"]) {
    std::int64_t sum = component["idle_ns"];
    for (const json& part : component["parts"]) sum += part["ns"].get<std::int64_t>();
    EXPECT_EQ(sum, profile["ns"]) << component.dump(1);
    components.insert(component["component"]);
  }
  EXPECT_THAT(components, ::testing::IsSupersetOf({"accelerator_host", "data_loader", "optimizer"}));
  std::map<std::string, std::int64_t> operations;
  for (const json& one : profile["operations"]["list"]) operations[one["name"]] = one["count"];
  EXPECT_GE(operations["aten::addmm"] + operations["aten::linear"], 100) << profile["operations"].dump(1);
}

TEST_P(SpansOfRunTest, ARecordingOfSpansSaysTheSameLater) {
  launch();
  const auto recording = run({"bag", "record", "/spans", "-o", "spans.mcap"});
  ASSERT_TRUE(eventually([&] { return visitors("/spans")["sent"] > 3; })) << recording->all();
  recording->signal(SIGINT);
  ASSERT_EQ(recording->wait(), 0) << recording->all();
  interrupt(*training_);
  EXPECT_FALSE(json_of({"trace", "spans.mcap", "--json"})["batches"].at(0)["spans"].empty());
  EXPECT_EQ(json_of({"profile", "spans.mcap", "--steps", "2", "--json"})["operations"], nullptr);

  const auto converted = run({"bag", "convert", "spans.mcap", "--perfetto", "out.json"});
  ASSERT_EQ(converted->wait(), 0) << converted->all();
  const json events = json::parse(read("out.json"), nullptr, false)["traceEvents"];
  std::set<std::string> slices;
  for (const json& event : events) slices.insert(event["name"].get<std::string>());
  EXPECT_THAT(slices, ::testing::IsSupersetOf({"forward", "backward", "update", "read"}));
  const auto again = run({"bag", "convert", "spans.mcap", "--perfetto", "out.json"});
  EXPECT_EQ(again->wait(), 1);
  EXPECT_THAT(again->err(), HasSubstr("cannot create "));
}

TEST_F(TrainingTest, WhoeverRecordsAllTopicsDoesNotRecordSpans) {
  const auto training = train("run", {});
  ASSERT_TRUE(eventually([&] { return !steps("run").empty(); })) << training->all();
  const auto recording = run({"bag", "record", "-o", "all.mcap"});
  ASSERT_TRUE(eventually([&] { return visitors("/metrics")["sent"] > 3; })) << recording->all();
  EXPECT_EQ(visitors("/spans")["visitors"], 0);
  recording->signal(SIGINT);
  recording->wait();
  const auto info = run({"bag", "info", "all.mcap"});
  EXPECT_EQ(info->wait(), 0);
  EXPECT_THAT(info->out(), HasSubstr("/metrics"));
  EXPECT_THAT(info->out(), ::testing::Not(HasSubstr("/spans")));
}

TEST_F(TrainingTest, WhatCannotBeTracedIsRefusedWithItsReason) {
  const auto training = train("run", {});
  ASSERT_TRUE(eventually([&] { return steps("run").size() > 10; })) << training->all();
  const auto past = run({"trace", "--batch", "1"});
  EXPECT_EQ(past->wait(), 3);
  EXPECT_THAT(past->err(), HasSubstr("trainyard: batch 1 is over; the first one whose spans are known is batch "));
  const auto pause = run({"pause"});
  ASSERT_EQ(pause->wait(), 0) << pause->all();
  const auto idle = run({"profile", "--timeout", "0.2"});
  EXPECT_EQ(idle->wait(), 124);
  EXPECT_THAT(idle->err(), HasSubstr("ended within 200 ms; does it train?"));
  interrupt(*training);
}

}  // namespace
}  // namespace trainyard
