// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_relay/checkpoint_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <sstream>

#include "checkpoints/shared_file.h"
#include "core/testing/rig.h"
#include "core/testing/temporary_folder.h"

namespace trainyard {
namespace {

using testing::Rig;

Tensor bytes_from(std::uint8_t first, std::int64_t count) {
  Tensor tensor = Tensor::empty(DType::kUInt8, {count});
  const auto bytes = tensor.as<std::uint8_t>();
  std::iota(bytes.begin(), bytes.end(), first);
  return tensor;
}

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class CheckpointRelayTest : public ::testing::Test {
 protected:
  CheckpointRelayTest() {
    rig_.world().rank = 2;
    rig_.world().world_size = 3;
    rig_.add<CheckpointRelay>("rank2/checkpoint_relay");
    rig_.start();
  }

  void announce() {
    rig_.send("arena", ArenaInfo{.rank = 2,
                                 .model = "mlp",
                                 .blocks = {{"parameters", parameters_}},
                                 .parameter_bytes = 24,
                                 .shard_begin = 8});
    rig_.send("optimizer_state", OptimizerState{.rank = 2, .rule = "adamw", .blocks = {{"exp_avg", state_}}});
    rig_.run_until_idle();
  }

  std::string error_of(const std::function<void()>& action) {
    try {
      action();
      rig_.run_until_idle();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  Tensor parameters_ = bytes_from(10, 4);
  Tensor state_ = bytes_from(20, 6);
  Rig rig_;
};

TEST_F(CheckpointRelayTest, DescribesTheMemoryOfItsRankWithoutItsBytes) {
  rig_.send("arena", ArenaInfo{.rank = 2, .blocks = {{"parameters", parameters_}}});
  rig_.run_until_idle();
  EXPECT_TRUE(rig_.received<RemoteMemory>("/remote_memory").empty()) << "the optimizer's memory is missing";
  announce();
  const auto sent = rig_.received<RemoteMemory>("/remote_memory");
  ASSERT_EQ(sent.size(), 1u);
  const RemoteMemory& memory = *sent.front();
  EXPECT_EQ(memory.arena.shard_begin, 8u);
  EXPECT_TRUE(memory.arena.blocks.empty());
  ASSERT_EQ(memory.arena_blocks.size(), 1u);
  EXPECT_EQ(memory.arena_blocks[0].shape, (std::vector<std::int64_t>{4}));
  EXPECT_TRUE(memory.has_optimizer);
  EXPECT_EQ(memory.optimizer.rule, "adamw");
  ASSERT_EQ(memory.optimizer_blocks.size(), 1u);
  EXPECT_EQ(memory.optimizer_blocks[0].name, "exp_avg");
  rig_.stop();
}

TEST_F(CheckpointRelayTest, SendsTheBlocksAsTheyWereWhenItAnswered) {
  announce();
  rig_.send("/copy_memory", CopyMemory{.order = 7, .step = 3, .blocks = {{1, 0}, {2, 0}, {2, 1}}});
  rig_.run_until_idle();
  const auto answers = rig_.received<MemoryCopied>("/memory_copied");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0]->order, 7u);
  EXPECT_EQ(answers[0]->rank, 2u);
  parameters_.as<std::uint8_t>()[0] = 99;  // As if training continued.
  const auto parts = rig_.received<MemoryPart>("/memory_parts");
  ASSERT_EQ(parts.size(), 2u) << "rank 1 is not its rank";
  EXPECT_EQ(parts[0]->place, (BlockPlace{2, 0}));
  EXPECT_EQ(parts[0]->data.as<std::uint8_t>()[0], 10);
  EXPECT_EQ(parts[1]->place, (BlockPlace{2, 1}));
  EXPECT_EQ(parts[1]->data.elements(), 6);
  rig_.stop();
}

TEST_F(CheckpointRelayTest, CutsALargeBlockIntoPiecesThatFollowEachOther) {
  const std::size_t size = 2 * checkpoint_relay::kPieceBytes + 5;
  parameters_ = Tensor::empty(DType::kUInt8, {static_cast<std::int64_t>(size)});
  for (std::size_t i = 0; i < size; ++i) parameters_.data()[i] = static_cast<std::byte>(i % 251);
  announce();
  rig_.send("/copy_memory", CopyMemory{.order = 7, .blocks = {{2, 0}}});
  rig_.run_until_idle();
  std::size_t end = 0;
  for (const auto& part : rig_.received<MemoryPart>("/memory_parts")) {
    EXPECT_EQ(part->begin_bytes, end);
    ASSERT_EQ(std::memcmp(part->data.data(), parameters_.data() + end, part->data.bytes()), 0);
    end += part->data.bytes();
  }
  EXPECT_EQ(end, size);
  EXPECT_EQ(rig_.received<MemoryPart>("/memory_parts").size(), 3u);
  rig_.stop();
}

TEST_F(CheckpointRelayTest, IsSilentIfNothingOfItsRankIsWanted) {
  announce();
  rig_.send("/copy_memory", CopyMemory{.order = 7, .blocks = {{1, 0}}});
  rig_.run_until_idle();
  EXPECT_TRUE(rig_.received<MemoryCopied>("/memory_copied").empty());
  rig_.stop();
}

TEST_F(CheckpointRelayTest, FillsTheMemoryOfItsRank) {
  announce();
  rig_.send("/restored_memory",
            RestoredMemory{.places = {{0, 1}, {2, 1}}, .begin_bytes = 2, .data = bytes_from(90, 3)});
  rig_.run_until_idle();
  EXPECT_TRUE(rig_.received<MemoryRestored>("/memory_restored").empty()) << "more is to come";
  rig_.send("/restored_memory", RestoredMemory{.data = bytes_from(0, 0), .last = true});
  rig_.run_until_idle();
  ASSERT_EQ(rig_.received<MemoryRestored>("/memory_restored").size(), 1u);
  EXPECT_THAT(state_.as<std::uint8_t>(), ::testing::ElementsAre(20, 21, 90, 91, 92, 25));
  EXPECT_THAT(parameters_.as<std::uint8_t>(), ::testing::ElementsAre(10, 11, 12, 13));
  rig_.stop();
}

TEST_F(CheckpointRelayTest, WritesTheBlocksAsTheyWereIntoTheFiles) {
  const testing::TemporaryFolder folder;
  announce();
  rig_.send("/copy_memory", CopyMemory{.order = 7, .step = 3, .blocks = {{1, 0}, {2, 0}, {2, 1}}, .keep = true});
  rig_.run_until_idle();
  ASSERT_EQ(rig_.received<MemoryCopied>("/memory_copied").size(), 1u);
  EXPECT_TRUE(rig_.received<MemoryPart>("/memory_parts").empty());
  parameters_.as<std::uint8_t>()[0] = 99;  // As if training continued.
  for (const char* name : {"model", "optimizer"}) checkpoints::create_shared_file(folder.path(name), "", 8);
  rig_.send(
      "/write_memory",
      WriteMemory{.order = 7,
                  .folder = folder.path(),
                  .files = {"model", "optimizer"},
                  .ranges = {{{1, 0}, 0, 4, 0, 0}, {{2, 0}, 0, 2, 0, 4}, {{2, 0}, 2, 2, 0, 6}, {{2, 1}, 1, 4, 1, 2}}});
  rig_.run_until_idle();
  const auto answers = rig_.received<MemoryWritten>("/memory_written");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0]->error, "");
  ASSERT_EQ(answers[0]->parts.size(), 2u);
  EXPECT_EQ(answers[0]->parts[0].bytes, 4u);
  EXPECT_EQ(answers[0]->parts[1].file, 1u);
  EXPECT_EQ(content_of(folder.path("model")), std::string("\0\0\0\0\x0a\x0b\x0c\x0d", 8));
  EXPECT_EQ(content_of(folder.path("optimizer")), std::string("\0\0\x15\x16\x17\x18\0\0", 8));
  rig_.stop();
}

TEST_F(CheckpointRelayTest, ReportsWhatItCannotWrite) {
  const testing::TemporaryFolder folder;
  announce();
  const auto error_for = [&](const WriteMemory& request) {
    rig_.send("/copy_memory", CopyMemory{.order = 7, .blocks = {{2, 0}}, .keep = true});
    rig_.run_until_idle();
    rig_.send("/write_memory", request);
    rig_.run_until_idle();
    const auto answers = rig_.received<MemoryWritten>("/memory_written");
    return answers.empty() ? "(no answer)" : answers.back()->error;
  };
  const std::string missing = folder.path("model");
  EXPECT_EQ(error_for({.order = 7, .folder = folder.path(), .files = {"model"}, .ranges = {{{2, 0}, 0, 4, 0, 0}}}),
            "cannot open " + missing + ": No such file or directory");
  const std::vector<WriteMemory> impossible = {
      {.order = 7, .folder = folder.path(), .files = {"model"}, .ranges = {{{2, 0}, 1, 4, 0, 0}}},
      {.order = 7, .folder = folder.path(), .files = {"model"}, .ranges = {{{2, 1}, 0, 4, 0, 0}}},
      {.order = 7, .folder = folder.path(), .files = {"model"}, .ranges = {{{2, 0}, 0, 4, 1, 0}}},
      {.order = 7, .folder = folder.path(), .files = {"../model"}, .ranges = {{{2, 0}, 0, 4, 0, 0}}},
      {.order = 8, .folder = folder.path(), .files = {"model"}, .ranges = {{{2, 0}, 0, 4, 0, 0}}}};
  for (const WriteMemory& request : impossible) {
    EXPECT_THAT(error_for(request), ::testing::HasSubstr("cannot be written"));
  }
  rig_.stop();
}

TEST_F(CheckpointRelayTest, SaysWhetherItSharesAFolder) {
  const testing::TemporaryFolder folder;
  announce();
  const std::string path = folder.write("probe", "secret");
  rig_.send("/folder_probe", FolderProbe{.path = path, .text = "secret"});
  rig_.send("/folder_probe", FolderProbe{.path = path, .text = "another"});
  rig_.send("/folder_probe", FolderProbe{.path = folder.path("none"), .text = "secret"});
  rig_.run_until_idle();
  const auto answers = rig_.received<FolderProbed>("/folder_probed");
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0]->error, "");
  EXPECT_EQ(answers[0]->rank, 2u);
  EXPECT_NE(answers[0]->host, "");
  EXPECT_EQ(content_of(path + "-2"), "secret");
  EXPECT_THAT(answers[1]->error, ::testing::HasSubstr("has another content there"));
  EXPECT_EQ(answers[2]->error, "there is no file " + folder.path("none"));
  rig_.stop();
}

TEST_F(CheckpointRelayTest, RefusesBlocksThatDoNotExist) {
  announce();
  EXPECT_THAT(error_of([&] {
                rig_.send("/copy_memory", CopyMemory{.order = 7, .blocks = {{2, 2}}});
              }),
              ::testing::HasSubstr("block 2 was asked for; rank 2 has 2"));
}

TEST_F(CheckpointRelayTest, RefusesPiecesThatDoNotFit) {
  announce();
  EXPECT_THAT(
      error_of([&] {
        rig_.send("/restored_memory", RestoredMemory{.places = {{2, 1}}, .begin_bytes = 4, .data = bytes_from(0, 3)});
      }),
      ::testing::HasSubstr("3 bytes at byte 4 do not fit block 1, which has 6 bytes"));
}

TEST(CopiesTest, MemoryIsUsedAgainOnlyWhenNobodyReadsItAnyMore) {
  checkpoint_relay::Copies copies;
  const Tensor block = bytes_from(1, 8);
  Buffer first = copies.copy(block);
  const Tensor piece = checkpoint_relay::piece_of(first, 2, 4);
  const std::byte* place = first.data();
  first = {};
  EXPECT_NE(copies.copy(block).data(), place) << "a piece of it is still being sent";
  EXPECT_EQ(piece.as<std::uint8_t>()[0], 3);
}

}  // namespace
}  // namespace trainyard
