// SPDX-License-Identifier: Apache-2.0
// Tests checkpoints that one number of ranks writes and another number of ranks reads.

#include <gtest/gtest.h>

#include <algorithm>

#include "checkpoints/checkpoint_reader.h"
#include "components/checkpoint_writer/checkpoint_writer.h"
#include "components/checkpoint_writer/test_files.h"
#include "core/testing/rig.h"

namespace trainyard {
namespace {

using testing::error_of;
using testing::Rig;

/// The bounds of the ranks' parts of the parameters, in bytes; one more than there are ranks.
using Bounds = std::vector<std::uint64_t>;
constexpr std::uint64_t kBytes = 448;  ///< The size of all parameters.
const Bounds kWhole{0, kBytes};

Tensor counting(DType dtype, std::int64_t elements, double first) {
  Tensor tensor = Tensor::empty(dtype, {elements});
  for (std::int64_t i = 0; i < elements; ++i) {
    const double value = first + static_cast<double>(i);
    if (dtype == DType::kFloat64) tensor.as<double>()[static_cast<std::size_t>(i)] = value;
    if (dtype == DType::kFloat32) tensor.as<float>()[static_cast<std::size_t>(i)] = static_cast<float>(value);
  }
  return tensor;
}

/// The messages with which a rank announces its memory, together with this memory.
struct Rank {
  ArenaInfo arena;
  OptimizerState state;

  Tensor& parameters() { return arena.blocks[0].data; }
};

/// Returns rank `number`, which has the bytes [begin, end) of the parameters. The model has a matrix and two vectors in
/// 448 bytes, a buffer, and three kinds of optimizer state: of the parameters' type, of a wider type, and a counter.
/// All values differ between `first` = 0 and `first` = 1.
Rank make_rank(std::uint32_t number, std::uint64_t begin, std::uint64_t end, double first) {
  const auto element = static_cast<double>(begin / 4);
  const auto count = static_cast<std::int64_t>((end - begin) / 4);
  const double offset = first * 1000;
  Rank rank;
  rank.arena = {.rank = number,
                .model = "mlp",
                .blocks = {{"parameters", counting(DType::kFloat32, count, offset + element)},
                           {"gradients", counting(DType::kFloat32, count, 0)},
                           {"buffers", counting(DType::kFloat32, 3, offset + number)}},
                .entries = {{.name = "a", .block = "parameters", .shape = {5, 7}, .offset_bytes = 0},
                            {.name = "b", .block = "parameters", .shape = {3}, .offset_bytes = 192},
                            {.name = "c", .block = "parameters", .shape = {40}, .offset_bytes = 256},
                            {.name = "mean", .block = "buffers", .shape = {3}, .offset_bytes = 0}},
                .parameter_bytes = kBytes,
                .shard_begin = begin};
  rank.state = {.rank = number,
                .rule = "adamw",
                .blocks = {{"exp_avg", counting(DType::kFloat32, count, 3 * offset + element)},
                           {"master", counting(DType::kFloat64, count, 5 * offset + element)},
                           {"counter", counting(DType::kFloat32, 2, offset + number)}}};
  return rank;
}

/// Returns one rank for each part, or `replicas` ranks that each have all parameters.
std::vector<Rank> make_ranks(const Bounds& bounds, double first, std::uint32_t replicas = 1) {
  std::vector<Rank> ranks;
  for (std::uint32_t i = 0; i < std::max<std::size_t>(bounds.size() - 1, replicas); ++i) {
    const bool part = i + 1 < bounds.size();
    ranks.push_back(make_rank(i, part ? bounds[i] : 0, part ? bounds[i + 1] : kBytes, first));
  }
  return ranks;
}

class ShardedCheckpointTest : public ::testing::Test {
 protected:
  /// Runs a checkpoint writer for these ranks until it has sent RunState.
  std::unique_ptr<Rig> start(const std::vector<Rank>& ranks, const std::string& folder,
                             const std::string& parameters = "{}") {
    auto rig = std::make_unique<Rig>();
    rig->world().output_directory = directory_ / folder;
    rig->world().world_size = static_cast<std::uint32_t>(ranks.size());
    Component& writer = rig->add<CheckpointWriter>("checkpoint_writer", parameters);
    rig->start();
    testing::without_stateful_components(writer);
    for (const Rank& rank : ranks) rig->send("optimizer_state", rank.state);
    for (auto rank = ranks.rbegin(); rank != ranks.rend(); ++rank) {
      EXPECT_TRUE(rig->received<RunState>("/run_state").empty()) << "it waits for every rank";
      rig->send("arena", rank->arena);
      rig->run_until_idle();
    }
    rig->run_until([&] { return !rig->received<RunState>("/run_state").empty(); });
    return rig;
  }

  /// Makes every rank request a snapshot, the last rank first. Returns the path of the checkpoint.
  static std::string save(Rig& rig, std::size_t ranks) {
    for (std::size_t rank = ranks; rank-- > 0;) {
      EXPECT_TRUE(rig.received<SnapshotTaken>("snapshot_taken").empty()) << "not before all have stopped";
      Snapshot snapshot = testing::snapshot_at(7);
      snapshot.rank = static_cast<std::uint32_t>(rank);
      for (SavedState& state : snapshot.states) state.rank = snapshot.rank;
      rig.send("snapshot", snapshot);
      rig.run_until_idle();
    }
    rig.run_until([&] { return !rig.received<CheckpointDone>("/checkpoints").empty(); });
    EXPECT_EQ(rig.received<SnapshotTaken>("snapshot_taken").size(), 1u);
    return rig.received<CheckpointDone>("/checkpoints").at(0)->path;
  }

  std::string saved_by(const std::vector<Rank>& ranks, const std::string& folder) {
    const auto rig = start(ranks, folder);
    const std::string path = save(*rig, ranks.size());
    rig->stop();
    return path;
  }

  std::string error_with(const std::vector<Rank>& ranks) {
    return text_of([&] { start(ranks, "refused"); });
  }
  /// Returns the text of the error that `action` throws, without the component's name at its beginning.
  static std::string text_of(const std::function<void()>& action) {
    const std::string text = error_of(action), name = "checkpoint_writer: ";
    return text.starts_with(name) ? text.substr(name.size()) : text;
  }

  testing::TemporaryDirectory directory_;
};

const Bounds kFour{0, 64, 64, 320, kBytes};  ///< Some bounds are inside tensors, and one part is empty.

TEST_F(ShardedCheckpointTest, TheFilesAreThoseOfASingleRank) {
  const std::string one = saved_by(make_ranks(kWhole, 1), "one");
  const std::string four = saved_by(make_ranks(kFour, 1), "four");
  const std::string replicas = saved_by(make_ranks(kWhole, 1, 3), "replicas");
  for (const char* file : {"/model.safetensors", "/optimizer.safetensors"}) {
    const std::string wanted = testing::read_file(one + file);
    EXPECT_TRUE(testing::read_file(four + file) == wanted) << file;
    EXPECT_TRUE(testing::read_file(replicas + file) == wanted) << file;
  }
  std::vector<std::string> states;
  const checkpoints::RunRecord run = checkpoints::read_checkpoint(four).run;
  for (const SavedState& state : run.states) states.push_back(checkpoints::state_tensor_name(state, ""));
  EXPECT_EQ(states, (std::vector<std::string>{"rank0/random_numbers/", "early_stopping/", "rank1/random_numbers/",
                                              "rank2/random_numbers/", "rank3/random_numbers/"}));
  EXPECT_EQ(run.samples, 4u * 7 * 12) << "those of all ranks";
  EXPECT_EQ(run.ranks, 4u);
}

/// Tests that the ranks with the bounds in the test's parameter can read a checkpoint that four ranks have written.
class ResumedElsewhereTest : public ShardedCheckpointTest, public ::testing::WithParamInterface<Bounds> {};

TEST_P(ResumedElsewhereTest, EveryRankGetsItsPart) {
  const std::string path = saved_by(make_ranks(kFour, 1), "written");
  std::vector<Rank> ranks = make_ranks(GetParam(), 0);
  const auto rig = start(ranks, "read", R"({"resume": ")" + path + "\"}");
  EXPECT_EQ(rig->received<RunState>("/run_state").at(0)->step, 7u);
  rig->stop();
  const std::string again = saved_by(ranks, "again");
  for (const char* file : {"/model.safetensors", "/optimizer.safetensors"}) {
    EXPECT_TRUE(testing::read_file(again + file) == testing::read_file(path + file)) << file;
  }
  for (Rank& rank : ranks) {
    // The rank with the first element of the matrix has got it. Padding and gradients are not changed.
    if (rank.arena.shard_begin == 0 && rank.parameters().bytes() != 0) {
      EXPECT_EQ(rank.parameters().as<float>()[0], 1000.0f);
    }
    if (rank.arena.shard_begin <= 140 && rank.arena.shard_begin + rank.parameters().bytes() >= 192) {
      EXPECT_EQ(rank.parameters().as<float>()[35 - rank.arena.shard_begin / 4], 35.0f) << "padding";
    }
    EXPECT_EQ(rank.arena.blocks[2].data.as<float>()[0], 1000.0f) << "buffers of rank " << rank.arena.rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Bounds, ResumedElsewhereTest,
                         ::testing::Values(kWhole, Bounds{0, 128, 192, kBytes}, kFour, Bounds{0, 0, kBytes}));

TEST_F(ShardedCheckpointTest, ReplicasAreAllFilled) {
  const std::string path = saved_by(make_ranks(kFour, 1), "written");
  std::vector<Rank> ranks = make_ranks(kWhole, 0, 3);
  start(ranks, "read", R"({"resume": ")" + path + "\"}")->stop();
  for (Rank& rank : ranks) {
    EXPECT_EQ(rank.parameters().as<float>()[103], 1103.0f);
    EXPECT_EQ(rank.state.blocks[1].data.as<double>()[64], 5064.0);
    EXPECT_EQ(rank.state.blocks[2].data.as<float>()[1], 1001.0f);
  }
}

TEST_F(ShardedCheckpointTest, SharedStateIsReadAndWrittenOnce) {
  std::vector<Rank> ranks = make_ranks(kWhole, 1, 2);
  for (Rank& rank : ranks) rank.arena.shared_state = true;
  const StateLayout layout =
      make_state_layout({{&ranks[0].arena, &ranks[0].state}, {&ranks[1].arena, &ranks[1].state}});
  EXPECT_TRUE(layout.blocks[0].replicas.empty()) << "parameters";
  EXPECT_TRUE(layout.blocks[3].replicas.empty()) << "state";
  EXPECT_EQ(layout.blocks[2].replicas.size(), 1u) << "buffers are each rank's own";
}

TEST_F(ShardedCheckpointTest, EveryRankGetsItsOwnOptimizerStateBack) {
  std::vector<Rank> written = make_ranks(kWhole, 1, 2);
  for (Rank& rank : written) rank.arena.own_state = true;
  written[1].state.blocks[0].data.as<float>()[0] = 77;
  const std::string path = saved_by(written, "written");
  for (const std::uint32_t count : {2, 3}) {
    std::vector<Rank> ranks = make_ranks(kWhole, 0, count);
    for (Rank& rank : ranks) rank.arena.own_state = true;
    start(ranks, "read" + std::to_string(count), R"({"resume": ")" + path + "\"}")->stop();
    EXPECT_EQ(ranks[0].state.blocks[0].data.as<float>()[0], 3000.0f);
    EXPECT_EQ(ranks[1].state.blocks[0].data.as<float>()[0], 77.0f);
    EXPECT_EQ(ranks[1].state.blocks[2].data.as<float>()[0], 1001.0f) << "the counter, which rank 0 has as 1000";
    if (count == 3) {
      EXPECT_EQ(ranks[2].state.blocks[0].data.as<float>()[0], 3000.0f) << "as rank 0";
    }
  }
}

TEST_F(ShardedCheckpointTest, PartsThatOverlapOrLeaveGapsAreRefused) {
  const std::string rule = "; the ranks' parts must follow each other without gap or overlap, or each be all 448 bytes";
  std::vector<Rank> ranks = make_ranks({0, 128, kBytes}, 1);
  ranks[1] = make_rank(1, 192, kBytes, 1);
  EXPECT_EQ(error_with(ranks), "the parameters of rank 1 begin at byte 192, those before it end at byte 128" + rule);
  ranks[1] = make_rank(1, 64, kBytes, 1);
  EXPECT_EQ(error_with(ranks), "the parameters of rank 1 begin at byte 64, those before it end at byte 128" + rule);
  ranks[1] = make_rank(1, 128, 384, 1);
  EXPECT_EQ(error_with(ranks), "the parameters of 2 ranks end at byte 384; together they must be 448 bytes");
  ranks[0] = make_rank(0, 64, 128, 1);
  EXPECT_EQ(error_with(ranks), "the parameters of rank 0 begin at byte 64, those before it end at byte 0" + rule);
}

TEST_F(ShardedCheckpointTest, RanksThatDoNotHaveTheSameAreRefused) {
  std::vector<Rank> ranks = make_ranks(kFour, 1);
  ranks[2].state.blocks[1].name = "square_avg";
  EXPECT_EQ(error_with(ranks),
            "the optimizer of rank 2 has no float64 'master' as that of rank 0 has; all ranks must have "
            "the same rule");
  ranks[3].arena.entries.pop_back();
  EXPECT_EQ(error_with(ranks),
            "rank 3 has a model of 3 tensors and 448 bytes of parameters, rank 0 one of 4 and 448; all "
            "ranks must have the same");
  ranks = make_ranks(kFour, 1);
  ranks[1].arena.blocks[2].data = counting(DType::kFloat32, 2, 0);
  EXPECT_EQ(error_with(ranks), "rank 1 has 8 bytes of buffers, rank 0 has 12; they must have the same");
}

TEST_F(ShardedCheckpointTest, SnapshotsOfDifferentOrdersAreABug) {
  const auto rig = start(make_ranks({0, 128, kBytes}, 1), "run");
  Snapshot snapshot = testing::snapshot_at(1);
  rig->send("snapshot", snapshot);
  snapshot.rank = 1;
  snapshot.order = 102;
  rig->send("snapshot", snapshot);
  EXPECT_EQ(text_of([&] { rig->run_until_idle(); }), "rank 1 asks for a snapshot for order 102, rank 0 for order 101");
}

TEST_F(ShardedCheckpointTest, AMessageOfARankThatTheRunDoesNotHaveIsABug) {
  std::vector<Rank> ranks = make_ranks({0, 128, kBytes}, 1);
  ranks[1].arena.rank = 2;
  EXPECT_EQ(error_with(ranks), "the arena of rank 2 came in a run of 2 ranks");
}

}  // namespace
}  // namespace trainyard
