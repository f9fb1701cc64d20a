// SPDX-License-Identifier: Apache-2.0
// Compares the optimizers of several ranks with a single one. The ranks either have parts of the parameters, or share
// all parameters and the state.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "components/optimizer/optimizer.h"
#include "core/testing/rig.h"
#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::uint64_t kUnit = 64;  ///< The bounds of parts are multiples of this number of bytes.

/// The memory of a whole model.
struct Memory {
  DType dtype;
  std::vector<ArenaEntry> entries;
  std::uint64_t bytes = 0;  ///< The size of all parameters.
  Tensor parameters;
  Tensor gradients;
};

std::vector<std::byte> bytes_of(const Tensor& block) { return {block.data(), block.data() + block.bytes()}; }

/// Returns a copy of the bytes [begin, end) of a block.
Tensor part_of_block(const Tensor& block, std::uint64_t begin, std::uint64_t end) {
  Tensor part = Tensor::empty(block.dtype, {static_cast<std::int64_t>((end - begin) / size_of(block.dtype))});
  std::memcpy(part.data(), block.data() + begin, end - begin);
  return part;
}

void fill_randomly(const Memory& memory, const Tensor& block, std::mt19937& random) {
  std::uniform_real_distribution<double> values(-1, 1);
  std::memset(block.data(), 0, block.bytes());
  for (const ArenaEntry& entry : memory.entries) {
    const std::uint64_t count = checked_bytes(memory.dtype, entry.shape) / size_of(memory.dtype);
    std::byte* to = block.data() + entry.offset_bytes;
    for (std::uint64_t i = 0; i < count; ++i) {
      const double value = values(random);
      const auto narrow = static_cast<float>(value);
      if (memory.dtype == DType::kFloat64) std::memcpy(to + i * 8, &value, 8);
      if (memory.dtype == DType::kFloat32) std::memcpy(to + i * 4, &narrow, 4);
      if (memory.dtype == DType::kBFloat16) std::memcpy(to + i * 2, reinterpret_cast<const char*>(&narrow) + 2, 2);
    }
  }
}

/// Makes a model whose sizes are not multiples of the vector width, so that the loops' remainders are tested.
Memory make_memory(DType dtype) {
  Memory memory{dtype, {}, 0, {}, {}};
  const std::vector<std::vector<std::int64_t>> shapes{{37, 5}, {11}, {64, 3}, {}, {203}, {17, 17}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    memory.entries.push_back({"p" + std::to_string(i) + (i % 2 == 0 ? ".weight" : ".bias"), "parameters",
                              static_cast<std::uint8_t>(dtype), shapes[i], memory.bytes});
    memory.bytes += (checked_bytes(dtype, shapes[i]) + kUnit - 1) / kUnit * kUnit;
  }
  const auto elements = static_cast<std::int64_t>(memory.bytes / size_of(dtype));
  memory.parameters = Tensor::empty(dtype, {elements});
  memory.gradients = Tensor::empty(dtype, {elements});
  std::mt19937 random(3);
  fill_randomly(memory, memory.parameters, random);
  return memory;
}

/// The optimizer of one rank, for the bytes [begin, end) of the parameters.
struct Rank {
  testing::Rig rig;
  std::uint64_t begin, end;
  Tensor parameters, gradients;

  Rank(const Memory& memory, const std::string& options, std::uint32_t rank, std::uint64_t first, std::uint64_t last)
      : begin(first),
        end(last),
        parameters(part_of_block(memory.parameters, first, last)),
        gradients(part_of_block(memory.gradients, first, last)) {
    rig.world().rank = rank;
    rig.world().world_size = 5;
    rig.add<Optimizer>("optimizer", options);
    rig.start();
    rig.send("/run_state", RunState{});
    rig.send("arena", ArenaInfo{.rank = rank,
                                .model = "tiny",
                                .blocks = {{"parameters", parameters}, {"gradients", gradients}},
                                .entries = memory.entries,
                                .parameter_bytes = memory.bytes,
                                .shard_begin = first});
    rig.run_until_idle();
  }

  void step(std::uint64_t number, const Memory& memory) {
    std::memcpy(gradients.data(), memory.gradients.data() + begin, end - begin);
    rig.send("gradients", Gradients{.step = number, .scale = 0.5 + 0.1 * static_cast<double>(number)});
    rig.run_until([&] { return rig.received<Parameters>("parameters").back()->step == number; });
  }

  OptimizerState state() const { return *rig.received<OptimizerState>("optimizer_state").at(0); }
};

/// Makes some steps with one optimizer for each part between `bounds`. Returns the parameters, the gradients and all
/// state, each assembled from the parts.
std::vector<std::vector<std::byte>> trained(DType dtype, const std::string& options,
                                            const std::vector<std::uint64_t>& bounds) {
  const Memory memory = make_memory(dtype);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    ranks.push_back(std::make_unique<Rank>(memory, options, static_cast<std::uint32_t>(i), bounds[i], bounds[i + 1]));
  }
  std::mt19937 random(11);
  for (std::uint64_t number = 1; number <= 4; ++number) {
    fill_randomly(memory, memory.gradients, random);
    for (const auto& rank : ranks) rank->step(number, memory);
  }
  std::vector<std::vector<std::byte>> all(2 + ranks[0]->state().blocks.size());
  for (const auto& rank : ranks) {
    std::vector<Tensor> blocks{rank->parameters, rank->gradients};
    for (const ArenaBlock& block : rank->state().blocks) blocks.push_back(block.data);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto bytes = bytes_of(blocks[i]);
      all[i].insert(all[i].end(), bytes.begin(), bytes.end());
    }
  }
  return all;
}

/// Returns random bounds of unequal parts, which are multiples of kUnit. Parts may be empty.
std::vector<std::uint64_t> uneven_bounds(std::uint64_t bytes, std::size_t parts, std::mt19937& random) {
  std::vector<std::uint64_t> bounds{0, bytes};
  while (bounds.size() < parts + 1) bounds.push_back(random() % (bytes / kUnit + 1) * kUnit);
  std::ranges::sort(bounds);
  return bounds;
}

class ShardsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ShardsTest, GiveTheSameBitsAsTheWhole) {
  std::mt19937 random(5);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    const std::uint64_t bytes = make_memory(dtype).bytes;
    const auto wanted = trained(dtype, GetParam(), {0, bytes});
    for (std::size_t parts = 1; parts <= 5; ++parts) {
      const auto bounds = uneven_bounds(bytes, parts, random);
      const auto got = trained(dtype, GetParam(), bounds);
      EXPECT_TRUE(got == wanted) << name_of(dtype) << " in parts at " << ::testing::PrintToString(bounds);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ShardsTest,
    ::testing::Values(R"({"rule": "sgd", "lr": 0.1, "weight_decay": 0.1})",
                      R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay_on": "matrices"})",
                      R"({"rule": "sgd", "lr": 0.1, "momentum": 0.9, "nesterov": true, "lr_scale": ["*.bias=0.5"]})",
                      R"({"rule": "adam", "amsgrad": true, "weight_decay": 0.1})", R"({"rule": "adam"})",
                      R"({"rule": "adamw", "no_decay": ["*.bias"]})", R"({"rule": "adamw", "amsgrad": true})",
                      R"({"rule": "rmsprop"})", R"({"rule": "rmsprop", "momentum": 0.5})",
                      R"({"rule": "rmsprop", "centered": true})",
                      R"({"rule": "rmsprop", "centered": true, "momentum": 0.5})",
                      R"({"rule": "adagrad", "initial_accumulator_value": 0.5, "lr_decay": 0.1})"));

TEST(ShardTest, ARankHoldsTheStateOfItsPartAndSaysWhoItIs) {
  const Memory memory = make_memory(DType::kFloat32);
  const Rank rank(memory, "{}", 3, 2 * kUnit, 5 * kUnit);
  EXPECT_EQ(rank.state().rank, 3u);
  ASSERT_EQ(rank.state().blocks.size(), 2u);
  for (const ArenaBlock& block : rank.state().blocks) EXPECT_EQ(block.data.bytes(), 3 * kUnit);
}

TEST(ShardTest, ARankWithoutParametersAnswersAsTheOthersDo) {
  const Memory memory = make_memory(DType::kFloat32);
  Rank rank(memory, "{}", 1, memory.bytes, memory.bytes);
  rank.step(1, memory);
  EXPECT_EQ(rank.state().blocks.at(0).data.bytes(), 0u);
  EXPECT_EQ(rank.rig.received<Parameters>("parameters").size(), 2u);
}

TEST(ShardTest, APartThatDoesNotLieInTheParametersIsRefused) {
  const Memory memory = make_memory(DType::kFloat32);
  Memory small = memory;
  small.bytes -= kUnit;
  EXPECT_THAT([&] { Rank(small, "{}", 1, kUnit, memory.bytes); },
              ThrowsMessage<Error>(HasSubstr(fmt::format(
                  "rank 1 has {} bytes of float32 parameters from byte 64 on; its part must consist of whole elements "
                  "and lie within {} bytes",
                  memory.bytes - kUnit, small.bytes))));
}

/// Tests the optimizers of several ranks that update the same memory.
class SharedStateTest : public ::testing::Test {
 protected:
  static constexpr const char* kOptions = R"({"rule": "adam", "lr": 0.1, "schedule": "linear", "total_steps": 20})";

  std::unique_ptr<testing::Rig> start(std::uint32_t rank, bool shared) {
    auto rig = std::make_unique<testing::Rig>();
    rig->world().rank = rank;
    rig->world().world_size = 3;
    rig->world().rendezvous = rendezvous_;
    rig->add<Optimizer>("optimizer", kOptions);
    rig->start();
    rig->send("/run_state", RunState{.step = 2});
    rig->send("arena", ArenaInfo{.rank = rank,
                                 .blocks = {{"parameters", memory_.parameters}, {"gradients", memory_.gradients}},
                                 .entries = memory_.entries,
                                 .parameter_bytes = memory_.bytes,
                                 .shared_state = shared});
    rig->run_until_idle();
    return rig;
  }

  /// Makes the steps 3 to 9, by each of the ranks in turn, and returns the parameters.
  std::vector<std::byte> trained_by(const std::vector<std::unique_ptr<testing::Rig>>& ranks) {
    std::mt19937 random(11);
    for (std::uint64_t step = 3; step < 10; ++step) {
      testing::Rig& rig = *ranks[step % ranks.size()];
      fill_randomly(memory_, memory_.gradients, random);
      rig.send("gradients", Gradients{.step = step});
      rig.run_until([&] { return rig.received<Parameters>("parameters").back()->step == step; });
    }
    return bytes_of(memory_.parameters);
  }

  Memory memory_ = make_memory(DType::kFloat32);
  std::shared_ptr<core::Rendezvous> rendezvous_ = core::make_local_rendezvous();
};

TEST_F(SharedStateTest, StepsOfSeveralRanksAreThoseOfOne) {
  std::vector<std::unique_ptr<testing::Rig>> one, three;
  one.push_back(start(0, false));
  const auto wanted = trained_by(one);
  memory_ = make_memory(DType::kFloat32);
  for (std::uint32_t rank = 0; rank < 3; ++rank) three.push_back(start(rank, true));
  EXPECT_TRUE(trained_by(three) == wanted);
}

TEST_F(SharedStateTest, OnlyRankZeroTakesMemory) {
  const auto first = start(0, true), second = start(1, true);
  const auto mine = first->received<OptimizerState>("optimizer_state").at(0);
  const auto theirs = second->received<OptimizerState>("optimizer_state").at(0);
  EXPECT_EQ(theirs->rank, 1u);
  ASSERT_EQ(theirs->blocks.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(mine->blocks[i].data.buffer.shared(), theirs->blocks[i].data.buffer.shared());
  }
}

TEST_F(SharedStateTest, StepsOfOneRankStillGrow) {
  const auto rank = start(0, true);
  rank->send("gradients", Gradients{.step = 7});
  rank->run_until_idle();
  rank->send("gradients", Gradients{.step = 7});
  EXPECT_THAT([&] { rank->run_until_idle(); },
              ThrowsMessage<Error>(HasSubstr("gradients of step 7 came after step 7")));
}

TEST_F(SharedStateTest, SchedulesFollowTheStepsOfTheRun) {
  const auto rank = start(0, true);
  rank->send("gradients", Gradients{.step = 12, .run_step = 5});
  rank->run_until_idle();
  EXPECT_EQ(rank->received<Parameters>("parameters").back()->step, 12u);
  EXPECT_DOUBLE_EQ(rank->received<Parameters>("parameters").back()->learning_rate, 0.1 * (1 - 4.0 / 20));
}

TEST_F(SharedStateTest, AStateOfAnotherSizeIsRefused) {
  const auto rank = start(0, true);
  memory_ = make_memory(DType::kFloat64);
  EXPECT_THAT([&] { start(1, true); }, ThrowsMessage<Error>(HasSubstr("bytes of optimizer state, rank 1 needs " +
                                                                      std::to_string(memory_.bytes))));
}

}  // namespace
}  // namespace trainyard
