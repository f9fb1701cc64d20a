// SPDX-License-Identifier: Apache-2.0
// Tests a checkpoint writer with one rank on its own host and one rank on another host. The test itself sends the
// messages of the other rank's relay.

#include "components/checkpoint_writer/remote_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "checkpoints/checkpoint_reader.h"
#include "checkpoints/manifest.h"
#include "checkpoints/safetensors.h"
#include "checkpoints/shared_file.h"
#include "components/checkpoint_writer/checkpoint_writer.h"
#include "components/checkpoint_writer/test_files.h"
#include "core/testing/rig.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Rig;

constexpr std::int64_t kElements = 32;  ///< The model has 32 parameters. By default, each rank has half of them.

Tensor counting_from(float first, std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(first + static_cast<float>(i));
  return testing::floats(values);
}

ArenaInfo arena_of(std::uint32_t rank, std::int64_t begin, std::int64_t end) {
  return {.rank = rank,
          .model = "mlp",
          .blocks = {{"parameters", counting_from(static_cast<float>(begin), end - begin)}},
          .entries = {{.name = "weight", .block = "parameters", .shape = {4, 8}, .offset_bytes = 0}},
          .parameter_bytes = kElements * sizeof(float),
          .shard_begin = static_cast<std::uint64_t>(begin) * sizeof(float)};
}

OptimizerState state_of(std::uint32_t rank, std::int64_t begin, std::int64_t end) {
  return {.rank = rank,
          .rule = "adamw",
          .blocks = {{"exp_avg", counting_from(100 + static_cast<float>(begin), end - begin)}}};
}

class RemoteRanksTest : public ::testing::Test {
 protected:
  explicit RemoteRanksTest(std::int64_t half = kElements / 2) {
    const std::int64_t begin = half == kElements ? 0 : half;
    near_arena_ = arena_of(0, 0, half);
    near_state_ = state_of(0, 0, half);
    far_arena_ = arena_of(1, begin, kElements);
    far_state_ = state_of(1, begin, kElements);
  }

  void start(const std::string& parameters = "{}") {
    rig_ = std::make_unique<Rig>();
    rig_->world().output_directory = directory_.path();
    rig_->world().world_size = 2;
    writer_ = &rig_->add<CheckpointWriter>("checkpoint_writer", parameters);
    rig_->start();
    testing::without_stateful_components(*writer_);
    rig_->send("arena", near_arena_);
    rig_->send("optimizer_state", near_state_);
    rig_->send("/remote_memory", description());
    rig_->run_until_idle();
  }

  RemoteMemory description() const {
    RemoteMemory memory;
    memory.arena = far_arena_;
    memory.arena.blocks.clear();
    memory.arena_blocks = {{"parameters", 7, far_arena_.blocks[0].data.shape}};
    memory.has_optimizer = true;
    memory.optimizer = far_state_;
    memory.optimizer.blocks.clear();
    memory.optimizer_blocks = {{"exp_avg", 7, far_state_.blocks[0].data.shape}};
    return memory;
  }

  /// Makes both ranks request a snapshot.
  void ask(std::uint64_t step) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      Snapshot snapshot = testing::snapshot_at(step);
      snapshot.rank = rank;
      for (SavedState& state : snapshot.states) state.rank = rank;
      rig_->send("snapshot", snapshot);
    }
    rig_->run_until_idle();
  }

  void copied(std::uint64_t order) {
    rig_->send("/memory_copied", MemoryCopied{.order = order, .rank = 1});
    rig_->run_until_idle();
  }

  /// Sends the bytes [begin, end) of a block of the rank on the other host.
  void part(std::uint64_t order, std::uint32_t block, std::size_t begin, std::size_t end) {
    const Tensor& data = block == 0 ? far_arena_.blocks[0].data : far_state_.blocks[0].data;
    Tensor bytes = Tensor::empty(DType::kUInt8, {static_cast<std::int64_t>(end - begin)});
    std::memcpy(bytes.data(), data.data() + begin, end - begin);
    rig_->send("/memory_parts",
               MemoryPart{.order = order, .place = {1, block}, .begin_bytes = begin, .data = std::move(bytes)});
    rig_->run_until_idle();
  }

  std::size_t answers() const { return rig_->received<SnapshotTaken>("snapshot_taken").size(); }
  std::vector<std::shared_ptr<const CheckpointDone>> results() const {
    return rig_->received<CheckpointDone>("/checkpoints");
  }

  /// Saves a checkpoint of step 7, and returns its path.
  std::string save() {
    ask(7);
    copied(107);
    part(107, 0, 0, 64);
    part(107, 1, 0, 64);
    rig_->run_until([&] { return !results().empty(); });
    return results().at(0)->path;
  }

  static std::vector<float> read(const std::string& path, const std::string& name) {
    const checkpoints::SafetensorsFile file(path);
    std::vector<float> values(kElements);
    file.read(*file.header().find(name), std::as_writable_bytes(std::span(values)));
    return values;
  }

  testing::TemporaryDirectory directory_;
  ArenaInfo near_arena_, far_arena_;
  OptimizerState near_state_, far_state_;
  std::unique_ptr<Rig> rig_;
  Component* writer_ = nullptr;
};

TEST_F(RemoteRanksTest, TheRanksGoOnWhenTheRelayHasCopiedAndTheFileIsWrittenWhenTheBytesAreHere) {
  start();
  ASSERT_EQ(rig_->received<RunState>("/run_state").size(), 1u);
  ask(7);
  const auto requests = rig_->received<CopyMemory>("/copy_memory");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0]->blocks, (std::vector<BlockPlace>{{1, 0}, {1, 1}}));
  EXPECT_EQ(answers(), 0u) << "the far rank may not go on yet";
  copied(107);
  EXPECT_EQ(answers(), 1u);
  part(107, 1, 0, 64);
  part(107, 0, 20, 64);
  EXPECT_TRUE(results().empty()) << "20 bytes are missing";
  part(107, 0, 0, 20);
  rig_->run_until([&] { return !results().empty(); });
  EXPECT_EQ(results().at(0)->error, "");
  const std::string path = results().at(0)->path;
  std::vector<float> wanted(kElements);
  std::memcpy(wanted.data(), counting_from(0, kElements).data(), kElements * sizeof(float));
  EXPECT_EQ(read(path + "/model.safetensors", "weight"), wanted);
  std::memcpy(wanted.data(), counting_from(100, kElements).data(), kElements * sizeof(float));
  EXPECT_EQ(read(path + "/optimizer.safetensors", "exp_avg/weight"), wanted);
  rig_->stop();
}

TEST_F(RemoteRanksTest, ASecondSnapshotWaitsForTheBytesOfTheFirst) {
  start();
  ask(7);
  copied(107);
  ask(8);
  EXPECT_EQ(rig_->received<CopyMemory>("/copy_memory").size(), 1u);
  part(107, 0, 0, 64);
  part(107, 1, 0, 64);
  rig_->run_until([&] { return rig_->received<CopyMemory>("/copy_memory").size() == 2; });
  EXPECT_EQ(rig_->received<CopyMemory>("/copy_memory").at(1)->order, 108u);
  copied(108);
  part(107, 0, 0, 64);  // A late piece of the first checkpoint is ignored.
  part(108, 0, 0, 64);
  part(108, 1, 0, 64);
  rig_->run_until([&] { return results().size() == 2; });
  rig_->stop();
}

TEST_F(RemoteRanksTest, ARunThatEndsBeforeTheBytesAreHereReportsIt) {
  start();
  ask(7);
  copied(107);
  rig_->stop();
  ASSERT_EQ(results().size(), 1u);
  EXPECT_EQ(results().at(0)->error, "the run ended before other hosts had sent their state");
  EXPECT_TRUE(checkpoints::list_checkpoints(directory_ / "checkpoints").empty());
}

TEST_F(RemoteRanksTest, BytesThatAreNoPartOfTheCheckpointAreRefused) {
  start();
  ask(7);
  copied(107);
  const auto error = testing::error_of([&] {
    part(107, 1, 60, 64);
    part(107, 5, 0, 64);
  });
  EXPECT_THAT(error, HasSubstr("64 bytes at byte 0 of block 5 of rank 1 came, which is not part of the checkpoint"));
}

TEST_F(RemoteRanksTest, ADescriptionWithAnImpossibleSizeIsRefused) {
  RemoteMemory memory = description();
  memory.arena_blocks[0].shape = {-1};
  EXPECT_THAT(testing::error_of([&] { announcement_of(memory); }), HasSubstr("-1"));
}

TEST_F(RemoteRanksTest, AResumedRunBeginsWhenTheRelaysHaveFilledTheirRanks) {
  start();
  const std::string path = save();
  rig_->stop();
  std::memset(near_arena_.blocks[0].data.data(), 0, 64);
  start(R"({"resume": ")" + path + "\"}");
  EXPECT_EQ(near_arena_.blocks[0].data.as<float>()[3], 3.0f);
  const auto pieces = rig_->received<RestoredMemory>("/restored_memory");
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0]->places, (std::vector<BlockPlace>{{1, 0}}));
  EXPECT_EQ(std::memcmp(pieces[0]->data.data(), far_arena_.blocks[0].data.data(), 64), 0);
  EXPECT_EQ(pieces[1]->places, (std::vector<BlockPlace>{{1, 1}}));
  EXPECT_EQ(std::memcmp(pieces[1]->data.data(), far_state_.blocks[0].data.data(), 64), 0);
  EXPECT_TRUE(pieces[2]->last);
  EXPECT_TRUE(rig_->received<RunState>("/run_state").empty()) << "the far rank is not restored yet";
  rig_->send("/memory_restored", MemoryRestored{.rank = 1});
  rig_->run_until([&] { return !rig_->received<RunState>("/run_state").empty(); });
  EXPECT_EQ(rig_->received<RunState>("/run_state").at(0)->step, 7u);
  rig_->stop();
}

TEST_F(RemoteRanksTest, StateThatTheCheckpointLacksIsNotSent) {
  start(R"({"save_optimizer": false})");
  const std::string path = save();
  rig_->stop();
  start(R"({"resume": ")" + path + "\"}");
  const auto pieces = rig_->received<RestoredMemory>("/restored_memory");
  ASSERT_EQ(pieces.size(), 2u) << "the parameters, and the end";
  EXPECT_EQ(pieces[0]->places, (std::vector<BlockPlace>{{1, 0}}));
}

/// All hosts share the folder of the checkpoints.
class SharedFolderTest : public RemoteRanksTest {
 protected:
  static constexpr const char* kWrite = R"({"other_hosts": "write"})";

  /// Answers the question whether the far host shares the folder.
  void share(const std::string& text = "", const std::string& error = "") {
    const auto probes = rig_->received<FolderProbe>("/folder_probe");
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_EQ(testing::read_file(probes[0]->path), probes[0]->text);
    testing::write_file(probes[0]->path + "-1", text.empty() ? probes[0]->text : text);
    rig_->send("/folder_probed", FolderProbed{.rank = 1, .host = "h1", .error = error});
    rig_->run_until_idle();
  }

  /// Does what the relay is asked to do, and returns its answer.
  MemoryWritten write(const WriteMemory& request) const {
    MemoryWritten answer{.order = request.order, .rank = 1};
    for (std::uint32_t index = 0; index < request.files.size(); ++index) {
      checkpoints::SharedFile file(request.folder + "/" + request.files[index]);
      for (const MemoryRange& range : request.ranges) {
        if (range.file != index) continue;
        const Tensor& data = range.place.block == 0 ? far_arena_.blocks[0].data : far_state_.blocks[0].data;
        file.write(range.at,
                   std::span<const std::byte>(data.data(), data.bytes()).subspan(range.begin_bytes, range.bytes));
      }
      const checkpoints::FileDigest digest = file.close();
      if (digest.bytes != 0) answer.parts.push_back({index, digest.bytes, digest.sha256});
    }
    return answer;
  }

  /// Saves a checkpoint of step 7 up to the point at which the relay is asked to write, and returns the request.
  WriteMemory request() {
    start(kWrite);
    share();
    ask(7);
    EXPECT_TRUE(rig_->received<CopyMemory>("/copy_memory").at(0)->keep);
    copied(107);
    EXPECT_EQ(answers(), 1u) << "the ranks may go on";
    const auto requests = rig_->received<WriteMemory>("/write_memory");
    EXPECT_EQ(requests.size(), 1u);
    return *requests.at(0);
  }

  const CheckpointDone& answer(const MemoryWritten& written) {
    rig_->send("/memory_written", written);
    rig_->run_until([&] { return !results().empty(); });
    return *results().at(0);
  }
};

TEST_F(SharedFolderTest, TheFilesAreTheSameAsIfTheOtherHostHadSentItsState) {
  start();
  const checkpoints::Manifest sent = checkpoints::parse_manifest(testing::read_file(save() + "/manifest.json"), "");
  rig_->stop();
  std::filesystem::remove_all(directory_ / "checkpoints");
  const WriteMemory asked = request();
  const CheckpointDone& done = answer(write(asked));
  EXPECT_EQ(done.error, "");
  const checkpoints::Manifest written =
      checkpoints::parse_manifest(testing::read_file(done.path + "/manifest.json"), "");
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "state.safetensors"}) {
    EXPECT_EQ(written.files.at(file), sent.files.at(file)) << file;
  }
  EXPECT_TRUE(checkpoints::verify_files(written, done.path).empty());
  rig_->stop();
}

TEST_F(SharedFolderTest, ACheckpointGetsNoNameIfAPartIsNotWhatItsHostHasWritten) {
  const WriteMemory asked = request();
  const MemoryWritten written = write(asked);
  testing::flip_byte(asked.folder + "/optimizer.safetensors", 1);  // The last bytes are those of the last rank.
  EXPECT_THAT(answer(written).error,
              HasSubstr("optimizer.safetensors does not have the 64 bytes that the host of rank 1 has "
                        "written"));
  EXPECT_TRUE(checkpoints::list_checkpoints(directory_ / "checkpoints").empty());
  EXPECT_FALSE(std::filesystem::exists(asked.folder));
  rig_->stop();
}

TEST_F(SharedFolderTest, ACheckpointGetsNoNameIfAPartIsMissing) {
  const WriteMemory asked = request();
  MemoryWritten written = write(asked);
  written.parts.pop_back();
  EXPECT_THAT(answer(written).error, HasSubstr("does not have the 64 bytes that the host of rank 1 has written"));
  rig_->stop();
}

TEST_F(SharedFolderTest, ACheckpointGetsNoNameIfAFileHasAnotherSize) {
  const WriteMemory asked = request();
  const MemoryWritten written = write(asked);
  std::filesystem::resize_file(asked.folder + "/model.safetensors", 99);
  EXPECT_NE(answer(written).error, "");
  EXPECT_TRUE(checkpoints::list_checkpoints(directory_ / "checkpoints").empty());
  rig_->stop();
}

TEST_F(SharedFolderTest, AHostThatCannotWriteIsNamed) {
  const WriteMemory asked = request();
  EXPECT_EQ(answer({.order = asked.order, .rank = 1, .error = "the disk is full"}).error,
            "the host of rank 1 could not write its part: the disk is full");
  rig_->stop();
}

TEST_F(SharedFolderTest, ARunThatEndsBeforeTheOtherHostHasWrittenReportsIt) {
  const WriteMemory asked = request();
  rig_->stop();
  ASSERT_EQ(results().size(), 1u);
  EXPECT_EQ(results().at(0)->error, "the run ended before other hosts had sent their state");
  EXPECT_FALSE(std::filesystem::exists(asked.folder));
}

TEST_F(SharedFolderTest, ARunDoesNotBeginIfAHostDoesNotShareTheFolder) {
  start(kWrite);
  EXPECT_TRUE(rig_->received<RunState>("/run_state").empty()) << "it is not known yet";
  EXPECT_THAT(testing::error_of([&] { share("", "there is no file x"); }),
              AllOf(HasSubstr("the host h1, with rank 1, does not share the folder of the checkpoints, "),
                    HasSubstr(": there is no file x. With other_hosts = \"write\", all hosts must share this folder")));
}

TEST_F(SharedFolderTest, ARunDoesNotBeginIfAHostWritesIntoAFolderOfItsOwn) {
  start(kWrite);
  EXPECT_THAT(testing::error_of([&] { share("another text"); }),
              HasSubstr("what it has written there cannot be seen here"));
}

TEST_F(SharedFolderTest, NothingIsLeftOfTheQuestionWhenItIsAnswered) {
  start(kWrite);
  share();
  EXPECT_EQ(rig_->received<RunState>("/run_state").size(), 1u);
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "checkpoints"));
  rig_->stop();
}

/// Tests ranks that both have all parameters.
class RemoteReplicaTest : public RemoteRanksTest {
 protected:
  RemoteReplicaTest() : RemoteRanksTest(kElements) {}
};

TEST_F(RemoteReplicaTest, NothingIsAskedOfARelayIfItsRankHasOnlyWhatThisHostHas) {
  start();
  ask(7);
  EXPECT_EQ(answers(), 1u);
  rig_->run_until([&] { return !results().empty(); });
  EXPECT_TRUE(rig_->received<CopyMemory>("/copy_memory").empty());
  const std::string path = results().at(0)->path;
  rig_->stop();
  start(R"({"resume": ")" + path + "\"}");
  const auto pieces = rig_->received<RestoredMemory>("/restored_memory");
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0]->data.bytes(), kElements * sizeof(float));
  EXPECT_EQ(pieces[0]->places, (std::vector<BlockPlace>{{1, 0}}));
}

TEST_F(RemoteReplicaTest, ASharedFolderIsCheckedEvenIfThisHostWritesEverything) {
  start(R"({"other_hosts": "write"})");
  const auto probes = rig_->received<FolderProbe>("/folder_probe");
  ASSERT_EQ(probes.size(), 1u);
  testing::write_file(probes[0]->path + "-1", probes[0]->text);
  rig_->send("/folder_probed", FolderProbed{.rank = 1, .host = "h1"});
  rig_->run_until_idle();
  ask(7);
  rig_->run_until([&] { return !results().empty(); });
  EXPECT_EQ(results().at(0)->error, "");
  EXPECT_TRUE(rig_->received<WriteMemory>("/write_memory").empty());
  rig_->stop();
}

}  // namespace
}  // namespace trainyard
