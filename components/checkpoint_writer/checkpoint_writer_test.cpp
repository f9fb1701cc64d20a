// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/checkpoint_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoints/checkpoint_reader.h"
#include "checkpoints/safetensors.h"
#include "components/checkpoint_writer/test_files.h"
#include "core/edge/edge.h"
#include "core/testing/rig.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;
using testing::error_of;
using testing::Rig;

class CheckpointWriterTest : public ::testing::Test {
 protected:
  CheckpointWriterTest() { rig_.world().output_directory = directory_.path(); }

  void start(const std::string& parameters = "{}") {
    Component& writer = rig_.add<CheckpointWriter>("checkpoint_writer", parameters);
    rig_.start();
    testing::without_stateful_components(writer);
    rig_.send("arena", arena_);
    rig_.send("optimizer_state", state_);
    rig_.run_until([&] { return !rig_.received<RunState>("/run_state").empty(); });
  }
  void wait_for_checkpoints(std::size_t count) {
    rig_.run_until([&] { return rig_.received<CheckpointDone>("/checkpoints").size() >= count; });
  }
  /// Writes checkpoints, as if by an earlier run.
  void write_checkpoints(const std::vector<std::uint64_t>& steps) {
    fs::create_directories(directory_ / "checkpoints");
    CheckpointStore store({.directory = directory_ / "checkpoints", .monitor = "loss", .rule = {.last = 0}});
    const StateLayout layout = make_state_layout(arena_, &state_);
    StateCopy copy;
    for (const std::uint64_t step : steps) {
      copy.take(layout, testing::snapshot_at(step));
      store.write(copy);
    }
  }
  std::string step(const std::string& number) const { return directory_ / ("checkpoints/step-" + number); }

  testing::TemporaryDirectory directory_;
  ArenaInfo arena_ = testing::small_arena();
  OptimizerState state_ = testing::small_state();
  Rig rig_;
};

TEST_F(CheckpointWriterTest, ANewRunBeginsAtZero) {
  start();
  const auto state = rig_.received<RunState>("/run_state").at(0);
  EXPECT_FALSE(state->resumed);
  EXPECT_EQ(state->step, 0u);
  rig_.stop();
}

TEST_F(CheckpointWriterTest, ASnapshotHoldsTheArenaAsItWasWhenItWasTaken) {
  start();
  rig_.send("snapshot", testing::snapshot_at(7));
  rig_.run_until([&] { return !rig_.received<SnapshotTaken>("snapshot_taken").empty(); });
  for (float& value : arena_.blocks[1].data.as<float>()) value = -1;  // As if training continued.
  wait_for_checkpoints(1);
  const auto taken = rig_.received<SnapshotTaken>("snapshot_taken").at(0);
  EXPECT_EQ(taken->order, 107u);
  const auto done = rig_.received<CheckpointDone>("/checkpoints").at(0);
  EXPECT_EQ(done->error, "");
  EXPECT_EQ(done->order, 107u);
  EXPECT_EQ(done->path, step("00000007"));
  const checkpoints::SafetensorsFile file(done->path + "/model.safetensors");
  std::vector<float> weight(6);
  file.read(*file.header().find("weight"), std::as_writable_bytes(std::span(weight)));
  EXPECT_EQ(weight, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  rig_.stop();
}

TEST_F(CheckpointWriterTest, ManySnapshotsInARowAreAllTakenAndWritten) {
  start(R"({"keep_last": 0})");
  for (std::uint64_t i = 1; i <= 10; ++i) rig_.send("snapshot", testing::snapshot_at(i));
  wait_for_checkpoints(10);
  rig_.stop();
  EXPECT_EQ(rig_.received<SnapshotTaken>("snapshot_taken").size(), 10u);
  EXPECT_EQ(checkpoints::list_checkpoints(directory_ / "checkpoints").size(), 10u);
}

TEST_F(CheckpointWriterTest, StoppingWaitsForWhatWasBegun) {
  start(R"({"keep_last": 0})");
  for (std::uint64_t i = 1; i <= 4; ++i) rig_.send("snapshot", testing::snapshot_at(i));
  rig_.run_until([&] { return rig_.received<SnapshotTaken>("snapshot_taken").size() >= 2; });
  rig_.stop();
  EXPECT_EQ(checkpoints::list_checkpoints(directory_ / "checkpoints").size(), 4u);
  EXPECT_EQ(rig_.received<CheckpointDone>("/checkpoints").size(), 4u);
}

TEST_F(CheckpointWriterTest, AWriteThatFailsIsReportedAndTheRunGoesOn) {
  start();
  rig_.send("snapshot", testing::snapshot_at(1));
  wait_for_checkpoints(1);
  fs::rename(directory_ / "checkpoints", directory_ / "moved");
  // A file with the name of the folder prevents the writer from making the folder again.
  testing::write_file(directory_ / "checkpoints", "");
  rig_.send("snapshot", testing::snapshot_at(2));
  wait_for_checkpoints(2);
  const auto failed = rig_.received<CheckpointDone>("/checkpoints").at(1);
  EXPECT_TRUE(
      failed->error.starts_with("cannot create the directory " + (directory_ / "checkpoints/.tmp-step-00000002")) &&
      failed->error.ends_with(": Not a directory"))
      << failed->error;
  fs::remove(directory_ / "checkpoints");
  fs::rename(directory_ / "moved", directory_ / "checkpoints");
  rig_.send("snapshot", testing::snapshot_at(3));
  wait_for_checkpoints(3);
  EXPECT_EQ(rig_.received<CheckpointDone>("/checkpoints").at(2)->error, "");
  rig_.stop();
}

TEST_F(CheckpointWriterTest, ResumesIntoTheSameMemory) {
  start();
  rig_.send("snapshot", testing::snapshot_at(5));
  wait_for_checkpoints(1);
  rig_.stop();

  Rig second;
  second.world().output_directory = directory_.path();
  const ArenaInfo arena = testing::small_arena(0);
  Component& writer = second.add<CheckpointWriter>("checkpoint_writer", R"({"resume": "last"})");
  second.start();
  testing::without_stateful_components(writer);
  second.send("arena", arena);
  second.send("optimizer_state", testing::small_state(0));
  second.run_until([&] { return !second.received<RunState>("/run_state").empty(); });
  const auto state = second.received<RunState>("/run_state").at(0);
  EXPECT_TRUE(state->resumed);
  EXPECT_EQ(state->path, step("00000005"));
  EXPECT_EQ(state->step, 5u);
  EXPECT_EQ(state->samples, 60u);
  EXPECT_EQ(state->cursor.samples, 5u);
  EXPECT_EQ(arena.blocks[1].data.as<float>()[0], 1.0f);
  second.stop();
}

TEST_F(CheckpointWriterTest, ARunThatContinuesADirectoryTidiesItUp) {
  write_checkpoints({1, 2});
  start(R"({"resume": "last", "keep_last": 1, "keep_best": 0})");
  rig_.send("snapshot", testing::snapshot_at(3));
  wait_for_checkpoints(1);
  rig_.stop();
  EXPECT_EQ(checkpoints::list_checkpoints(directory_ / "checkpoints"), (std::vector<std::string>{step("00000003")}));
}

TEST_F(CheckpointWriterTest, ARunThatComesFromElsewhereLeavesTheDirectoryAlone) {
  write_checkpoints({1, 2});
  fs::rename(directory_ / "checkpoints", directory_ / "elsewhere");
  write_checkpoints({5});
  start(R"({"resume": ")" + (directory_ / "elsewhere") + R"(", "keep_last": 1, "keep_best": 0})");
  EXPECT_EQ(rig_.received<RunState>("/run_state").at(0)->step, 2u);
  rig_.send("snapshot", testing::snapshot_at(3));
  wait_for_checkpoints(1);
  rig_.stop();
  EXPECT_EQ(checkpoints::list_checkpoints(directory_ / "checkpoints"),
            (std::vector<std::string>{step("00000003"), step("00000005")}));
  EXPECT_EQ(checkpoints::list_checkpoints(directory_ / "elsewhere").size(), 2u);
}

TEST_F(CheckpointWriterTest, ANewRunKeepsOldCheckpointsUnlessToldToReplaceThem) {
  for (const auto& [existing, left] : {std::pair{"keep", 3u}, {"replace", 1u}}) {
    fs::remove_all(directory_ / "checkpoints");
    write_checkpoints({1, 2});
    Rig rig;
    rig.world().output_directory = directory_.path();
    Component& writer = rig.add<CheckpointWriter>(
        "w", std::string(R"({"keep_last": 1, "keep_best": 0, "existing": ")") + existing + "\"}");
    rig.start();
    testing::without_stateful_components(writer);
    rig.send("arena", arena_);
    rig.send("optimizer_state", state_);
    rig.send("snapshot", testing::snapshot_at(9));
    rig.run_until([&] { return !rig.received<CheckpointDone>("/checkpoints").empty(); });
    rig.stop();
    EXPECT_EQ(checkpoints::list_checkpoints(directory_ / "checkpoints").size(), left) << existing;
  }
}

/// Makes the writer believe that `count` components have state.
void with_stateful_components(Component& writer, std::size_t count) {
  for (InputBase* input : writer.inputs()) {
    if (input->name() == "states" || input->name() == "states_taken") input->set_connections(count);
  }
}

TEST_F(CheckpointWriterTest, TheRanksWaitUntilEveryComponentHasGivenItsState) {
  Component& writer = rig_.add<CheckpointWriter>("checkpoint_writer", "{}");
  rig_.start();
  with_stateful_components(writer, 2);
  rig_.send("arena", arena_);
  rig_.send("optimizer_state", state_);
  rig_.send("snapshot", testing::snapshot_at(7));
  rig_.run_until_idle();
  ASSERT_EQ(rig_.received<StateRequest>("/state_request").size(), 1u);
  EXPECT_EQ(rig_.received<StateRequest>("/state_request").at(0)->step, 7u);
  const StateAnswer first{.order = 107, .component = "a", .states = {{.owner = "a", .values = R"({"x":1})"}}};
  for (int twice = 0; twice < 2; ++twice) rig_.send("/states", first);
  rig_.send("/states", StateAnswer{.order = 3, .component = "b"});
  rig_.run_until_idle();
  EXPECT_TRUE(rig_.received<SnapshotTaken>("snapshot_taken").empty())
      << "one answer is missing, one is of another order";
  rig_.send("/states", StateAnswer{.order = 107, .component = "b", .states = {{.owner = "b", .values = R"({"y":2})"}}});
  wait_for_checkpoints(1);
  EXPECT_EQ(rig_.received<SnapshotTaken>("snapshot_taken").size(), 1u);
  std::vector<std::string> owners;
  for (const SavedState& state : checkpoints::read_checkpoint(step("00000007")).run.states)
    owners.push_back(state.owner);
  EXPECT_EQ(owners, (std::vector<std::string>{"random_numbers", "early_stopping", "a", "b"}));
  rig_.stop();
}

TEST_F(CheckpointWriterTest, AComponentWhoseProcessHasDiedIsNotWaitedFor) {
  Component& writer = rig_.add<CheckpointWriter>("checkpoint_writer", "{}");
  rig_.set_window("/state_request", 0);  // As if one of the two components received nothing any more.
  rig_.start();
  with_stateful_components(writer, 2);
  for (OutputBase* output : writer.outputs()) {
    if (output->name() != "state_request") continue;
    for (core::Edge* edge : output->edges()) edge->receiver_gone();
  }
  rig_.send("arena", arena_);
  rig_.send("optimizer_state", state_);
  rig_.send("snapshot", testing::snapshot_at(7));
  rig_.run_until_idle();
  rig_.send("/states", StateAnswer{.order = 107, .component = "a", .states = {{.owner = "a", .values = R"({"x":1})"}}});
  wait_for_checkpoints(1);
  EXPECT_EQ(rig_.received<CheckpointDone>("/checkpoints").at(0)->error, "");
  EXPECT_EQ(checkpoints::read_checkpoint(step("00000007")).run.states.back().owner, "a");
  rig_.stop();
}

TEST_F(CheckpointWriterTest, StateThatIsTheSameOnAllRanksIsSavedOnce) {
  Component& writer = rig_.add<CheckpointWriter>("checkpoint_writer", "{}");
  rig_.start();
  with_stateful_components(writer, 2);
  rig_.send("arena", arena_);
  rig_.send("optimizer_state", state_);
  rig_.send("snapshot", testing::snapshot_at(7));
  rig_.run_until_idle();
  const Tensor tensor = testing::floats({1, 2});
  for (const std::uint32_t rank : {1U, 0U}) {
    SavedState common{.owner = "a", .rank = rank, .tensors = {{"sum", tensor}}};
    SavedState own{.owner = "a", .rank = rank, .per_rank = true, .tensors = {{"part", tensor}}};
    rig_.send("/states", StateAnswer{.order = 107,
                                     .component = "rank" + std::to_string(rank) + "/a",
                                     .states = {std::move(common), std::move(own)}});
  }
  wait_for_checkpoints(1);
  EXPECT_EQ(rig_.received<CheckpointDone>("/checkpoints").at(0)->error, "");
  std::vector<std::string> found;
  for (const SavedState& state : checkpoints::read_checkpoint(step("00000007")).run.states) {
    if (state.owner == "a") found.push_back(state.per_rank ? "rank " + std::to_string(state.rank) : "all ranks");
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAre("all ranks", "rank 0", "rank 1"));
  rig_.stop();
}

TEST_F(CheckpointWriterTest, ARunThatEndsBeforeAComponentHasAnsweredReportsTheCheckpointAsFailed) {
  Component& writer = rig_.add<CheckpointWriter>("checkpoint_writer", "{}");
  rig_.start();
  with_stateful_components(writer, 1);
  rig_.send("arena", arena_);
  rig_.send("optimizer_state", state_);
  rig_.send("snapshot", testing::snapshot_at(7));
  rig_.run_until_idle();
  rig_.stop();
  const auto done = rig_.received<CheckpointDone>("/checkpoints");
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0]->error, "the run ended before every component had given its state");
}

TEST_F(CheckpointWriterTest, TheRunBeginsWhenEveryComponentHasTakenItsStateBack) {
  write_checkpoints({5});
  Component& writer = rig_.add<CheckpointWriter>("checkpoint_writer", R"({"resume": "last"})");
  rig_.start();
  with_stateful_components(writer, 2);
  rig_.send("arena", arena_);
  rig_.send("optimizer_state", state_);
  rig_.run_until_idle();
  const auto restored = rig_.received<RestoredStates>("/restored_states");
  ASSERT_EQ(restored.size(), 1u);
  EXPECT_EQ(restored[0]->step, 5u);
  EXPECT_EQ(restored[0]->states.at(0).tensors.at(0).data.as<float>()[1], 2.0f);
  rig_.send("/states_taken", StatesTaken{.component = "a", .owners = {"random_numbers"}});
  rig_.run_until_idle();
  EXPECT_TRUE(rig_.received<RunState>("/run_state").empty());
  rig_.send("/states_taken", StatesTaken{.component = "b", .owners = {"early_stopping"}});
  rig_.run_until_idle();
  ASSERT_EQ(rig_.received<RunState>("/run_state").size(), 1u);
  EXPECT_EQ(rig_.received<RunState>("/run_state").at(0)->skipped_steps, 3u);
  rig_.stop();
}

TEST_F(CheckpointWriterTest, AMismatchEndsTheRunAndNamesTheTensor) {
  write_checkpoints({1});
  arena_.entries[0].shape = {6};
  rig_.add<CheckpointWriter>("checkpoint_writer", R"({"resume": "last"})");
  rig_.start();
  const std::string error = error_of([&] {
    rig_.send("arena", arena_);
    rig_.send("optimizer_state", state_);
    rig_.run_until([&] { return !rig_.received<RunState>("/run_state").empty(); });
  });
  EXPECT_NE(error.find("tensor 'weight' has shape [2, 3], this run's has [6]"), std::string::npos) << error;
}

TEST_F(CheckpointWriterTest, TheBestIsTheLargestIfToldSo) {
  start(R"({"monitor": "accuracy", "monitor_mode": "max", "keep_last": 1})");
  for (const auto& [step, accuracy] : {std::pair{1, 0.5}, {2, 0.9}, {3, 0.7}}) {
    Snapshot snapshot = testing::snapshot_at(static_cast<std::uint64_t>(step));
    snapshot.metrics.push_back({"accuracy", accuracy});
    rig_.send("snapshot", snapshot);
  }
  wait_for_checkpoints(3);
  rig_.stop();
  EXPECT_EQ(checkpoints::follow_pointer(directory_ / "checkpoints", "best"), step("00000002"));
  EXPECT_EQ(checkpoints::list_checkpoints(directory_ / "checkpoints").size(), 2u);
}

TEST_F(CheckpointWriterTest, AMonitorThatNamesNoMetricEndsTheRunAfterTheCheckpointIsSafe) {
  start(R"({"monitor": "acc"})");
  Snapshot snapshot = testing::snapshot_at(1);
  snapshot.metrics = {{"loss", 0.5}, {"accuracy", 0.9}};
  const std::string error = error_of([&] {
    rig_.send("snapshot", snapshot);
    rig_.run_until([] { return false; });
  });
  EXPECT_NE(
      error.find("monitor = 'acc' names no metric of the validation; did you mean 'accuracy'? known: accuracy, loss"),
      std::string::npos)
      << error;
  EXPECT_EQ(checkpoints::list_checkpoints(directory_ / "checkpoints").size(), 1u);
}

TEST_F(CheckpointWriterTest, LibTorchIsNotLoaded) {
  const std::string libraries = testing::read_file("/proc/self/maps");
  EXPECT_NE(libraries.find("checkpoint_writer.so"), std::string::npos);
  EXPECT_EQ(libraries.find("libtorch"), std::string::npos);
}

TEST_F(CheckpointWriterTest, LeftoversOfAKilledRunAreSwept) {
  fs::create_directories(directory_ / "checkpoints/.tmp-step-00000009-1-0");
  start();
  EXPECT_FALSE(fs::exists(directory_ / "checkpoints/.tmp-step-00000009-1-0"));
  rig_.stop();
}

TEST_F(CheckpointWriterTest, CheckpointsOfAnotherRunCanBeMadeAReasonToRefuse) {
  fs::create_directories(step("00000001"));
  rig_.add<CheckpointWriter>("checkpoint_writer", R"({"existing": "error"})");
  const std::string error = error_of([&] { rig_.start(); });
  EXPECT_NE(error.find("/checkpoints holds 1 checkpoints of another run; choose another 'directory'"),
            std::string::npos)
      << error;
}

TEST_F(CheckpointWriterTest, AResumeWithoutACheckpointIsRefusedBeforeTraining) {
  rig_.add<CheckpointWriter>("checkpoint_writer", R"({"resume": "last"})");
  EXPECT_NE(error_of([&] { rig_.start(); }).find("resume = 'last': there is no checkpoint in"), std::string::npos);
}

TEST_F(CheckpointWriterTest, WithoutOptimizerFileOnlyTheWeightsAreSaved) {
  start(R"({"save_optimizer": false})");
  rig_.send("snapshot", testing::snapshot_at(1));
  wait_for_checkpoints(1);
  EXPECT_FALSE(checkpoints::read_checkpoint(step("00000001")).optimizer);
  rig_.stop();
}

}  // namespace
}  // namespace trainyard
