// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/resume.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <span>

#include "checkpoints/manifest.h"
#include "components/checkpoint_writer/checkpoint_store.h"
#include "components/checkpoint_writer/test_files.h"
#include "core/state/state.h"
#include "messages/message_type.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;
using testing::error_of;

/// A directory with checkpoints of the steps 10, 20 and 30. The first weight of each is the step.
class ResumeTest : public ::testing::Test {
 protected:
  ResumeTest() {
    CheckpointStore store({.directory = directory_.path(), .monitor = "loss", .rule = {.last = 0}});
    for (const auto& [step, loss] : {std::pair{10, 3.0}, {20, 1.0}, {30, 2.0}}) {
      const OptimizerState state = testing::small_state(static_cast<float>(step));
      const StateLayout layout = make_state_layout(testing::small_arena(static_cast<float>(step)), &state);
      StateCopy copy;
      copy.take(layout, testing::snapshot_at(static_cast<std::uint64_t>(step), loss));
      store.write(copy);
    }
  }
  std::string step(int number) const { return directory_ / ("step-000000" + std::to_string(number)); }
  Resumed resume(const std::string& what) {
    return resume_from(resume_candidates(what, directory_.path()), layout_,
                       [this](const std::string& text) { warnings_.push_back(text); });
  }

  testing::TemporaryDirectory directory_;
  ArenaInfo arena_ = testing::small_arena(0);
  OptimizerState state_ = testing::small_state(0);
  StateLayout layout_ = make_state_layout(arena_, &state_);
  std::vector<std::string> warnings_;
};

TEST_F(ResumeTest, LastFillsEveryBlockInPlace) {
  const Resumed resumed = resume("last");
  EXPECT_EQ(resumed.path, step(30));
  EXPECT_EQ(resumed.run.step, 30u);
  ASSERT_EQ(resumed.run.states.size(), 2u);
  EXPECT_EQ(resumed.run.states[0].tensors.at(0).data.as<float>()[1], 2.0f) << "from state.safetensors";
  EXPECT_EQ(resumed.run.states[1].values, R"({"best":0.5})");
  const auto parameters = arena_.blocks[1].data.as<float>();
  EXPECT_EQ(parameters[0], 30.0f);
  EXPECT_EQ(parameters[5], 35.0f);
  EXPECT_EQ(parameters[6], 0.0f) << "padding stays zero";
  EXPECT_EQ(parameters[17], 600.0f);
  EXPECT_EQ(state_.blocks[0].data.as<float>()[16], 30.0f);
  EXPECT_EQ(arena_.blocks[0].data.as<float>()[0], 9.0f) << "gradients are not touched";
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(ResumeTest, ManyTensorsOfStatesFitIntoOneMessage) {
  Snapshot snapshot = testing::snapshot_at(40);
  snapshot.states = {{.owner = "many", .values = "", .tensors = {}}};
  for (int i = 0; i < 200; ++i) {
    snapshot.states[0].tensors.push_back({std::to_string(i), testing::floats({static_cast<float>(i), 1})});
  }
  StateCopy copy;
  copy.take(layout_, snapshot);
  CheckpointStore({.directory = directory_.path(), .monitor = "loss", .rule = {.last = 0}}).write(copy);

  std::string body;
  std::vector<Buffer> payloads;
  encode(RestoredStates{.path = step(40), .states = resume(step(40)).run.states}, body, payloads);
  RestoredStates arrived;
  decode(arrived, std::as_bytes(std::span(body)), payloads);
  const StateReader reader(arrived, "many", 0);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(reader.tensor(std::to_string(i)).as<float>()[0], static_cast<float>(i));
}

/// Changes a checkpoint to the form that version 0.1 wrote.
void turn_into_format_1(const std::string& path) {
  const std::string run = path + "/run.json";
  nlohmann::json root = nlohmann::json::parse(testing::read_file(run));
  for (const char* key : {"states", "ranks", "skipped_steps"}) root.erase(key);
  root["cursor"] = {{"epoch", 2}, {"batch", 5}};
  root["rng"] = "0102ff";
  root["host_state"] = nlohmann::json::parse(R"([{"name": "loss_scale", "value": 128}])");
  fs::remove(path + "/state.safetensors");
  testing::write_file(run, root.dump());
  checkpoints::Manifest manifest{.format = 1, .trainyard = "0.1"};
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "run.json"}) {
    manifest.files[file] = checkpoints::digest_file(path + "/" + file);
  }
  testing::write_file(path + "/manifest.json", checkpoints::format_manifest(manifest));
}

TEST_F(ResumeTest, ACheckpointOfFormat1IsStillRead) {
  turn_into_format_1(step(30));
  const Resumed resumed = resume("last");
  EXPECT_EQ(resumed.run.cursor.epoch, 2u);
  EXPECT_EQ(resumed.run.cursor_batches, 5u);
  ASSERT_EQ(resumed.run.states.size(), 2u);
  EXPECT_EQ(resumed.run.states[0].owner, "random_numbers");
  EXPECT_EQ(resumed.run.states[0].tensors.at(0).data.as<std::uint8_t>()[2], 255);
  EXPECT_EQ(resumed.run.states[1].owner, "loss_scale");
  EXPECT_EQ(arena_.blocks[1].data.as<float>()[0], 30.0f);
}

TEST_F(ResumeTest, BestAndPathsAreFollowed) {
  EXPECT_EQ(resume("best").run.step, 20u);
  EXPECT_EQ(resume(step(10)).run.step, 10u);
  EXPECT_EQ(resume(directory_.path()).run.step, 30u);
}

TEST_F(ResumeTest, ABrokenOneFallsBackToTheOneBeforeAndSaysWhy) {
  testing::flip_byte(step(30) + "/model.safetensors", 1);
  fs::remove(step(20) + "/manifest.json");
  EXPECT_EQ(resume("last").run.step, 10u);
  EXPECT_EQ(arena_.blocks[1].data.as<float>()[0], 10.0f);
  ASSERT_EQ(warnings_.size(), 2u);
  EXPECT_NE(warnings_[0].find("step-00000030 is broken: "), std::string::npos) << warnings_[0];
  EXPECT_NE(warnings_[0].find("was changed: its SHA-256 is"), std::string::npos) << warnings_[0];
  EXPECT_NE(warnings_[1].find("there is no file"), std::string::npos) << warnings_[1];
}

TEST_F(ResumeTest, NeverFallsForwardIntoAnotherRun) {
  EXPECT_EQ(resume_candidates("best", directory_.path()), (std::vector<std::string>{step(20), step(10)}));
}

TEST_F(ResumeTest, AutoIsTheLastOneIfThereIsOne) {
  EXPECT_EQ(resume_candidates("auto", directory_.path()), resume_candidates("last", directory_.path()));
}

TEST_F(ResumeTest, ALostPointerIsNoObstacle) {
  fs::remove(directory_ / "last");
  EXPECT_EQ(resume("last").run.step, 30u);
}

TEST_F(ResumeTest, APathMeansThisOneAndNoOther) {
  testing::flip_byte(step(30) + "/run.json", 3);
  const std::string error = error_of([&] { resume(step(30)); });
  EXPECT_TRUE(error.starts_with("no checkpoint to resume from is whole: " + step(30) + " is broken: ")) << error;
}

TEST_F(ResumeTest, NothingToResumeFromIsSaid) {
  testing::TemporaryDirectory empty;
  EXPECT_EQ(error_of([&] { resume_candidates("last", empty.path()); }),
            "resume = 'last': there is no checkpoint in " + empty.path() +
                "; allowed are '', 'last', 'best', 'auto' and a path");
  EXPECT_TRUE(resume_candidates("auto", empty.path()).empty());
}

TEST_F(ResumeTest, AnotherShapeNamesTheTensorAndBothShapes) {
  arena_.entries[0].shape = {3, 2};
  layout_ = make_state_layout(arena_, &state_);
  EXPECT_EQ(error_of([&] { resume("last"); }),
            step(30) + "/model.safetensors: tensor 'weight' has shape [2, 3], this run's has [3, 2]");
}

TEST_F(ResumeTest, MissingAndUnknownTensorsAreNamed) {
  arena_.entries[1].name = "offset";
  layout_ = make_state_layout(arena_, &state_);
  EXPECT_EQ(error_of([&] { resume("last"); }),
            step(30) + "/model.safetensors has no tensor 'offset'; this run has one of shape [2]");
  arena_.entries.pop_back();
  arena_.entries.pop_back();
  layout_ = make_state_layout(arena_, &state_);
  EXPECT_NE(error_of([&] { resume("last"); }).find("; this run has none of that name"), std::string::npos);
}

TEST_F(ResumeTest, AMismatchLeavesTheRunUntouched) {
  state_.blocks[0].name = "square_avg";
  layout_ = make_state_layout(arena_, &state_);
  EXPECT_NE(error_of([&] { resume("last"); }).find("has no tensor 'square_avg/weight'"), std::string::npos);
  EXPECT_EQ(arena_.blocks[1].data.as<float>()[0], 0.0f);
}

TEST_F(ResumeTest, ARunWithoutOptimizerStateTakesTheWeightsAlone) {
  layout_ = make_state_layout(arena_, nullptr);
  EXPECT_EQ(resume("last").run.step, 30u);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("which this run does not use"), std::string::npos);
}

}  // namespace
}  // namespace trainyard
