// SPDX-License-Identifier: Apache-2.0
#include "collectives/my_collective/my_collective.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace example {
namespace {

/// Runs `work` for each of three ranks, each on a separate thread.
template <class Work>
void run_ranks(const Work& work) {
  const auto notes = trainyard::core::make_local_rendezvous();
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&notes, &work, rank] {
      trainyard::CollectiveContext context;
      context.where = "collective 'my_collective'";
      context.parameters = "{}";
      context.rank = rank;
      context.world_size = 3;
      context.rendezvous = notes.get();
      context.name = "world";
      context.ranks = {0, 1, 2};
      MyCollective world(context);
      world.connect();
      work(world);
    });
  }
}

TEST(MyCollectiveTest, EveryRankGetsTheSum) {
  std::array<std::array<float, 2>, 3> values{{{1, 10}, {2, 20}, {3, 30}}};
  run_ranks([&](MyCollective& world) {
    auto& own = values[world.rank()];
    world.all_reduce({own.data(), trainyard::DType::kFloat32, own.size()}, trainyard::ReduceOp::kSum).wait();
  });
  for (const auto& own : values) EXPECT_EQ(own, (std::array<float, 2>{6, 60}));
}

TEST(MyCollectiveTest, EveryRankGetsWhatTheRootHas) {
  std::array<std::int64_t, 3> values{5, 6, 7};
  run_ranks([&](MyCollective& world) {
    world.broadcast({&values[world.rank()], trainyard::DType::kInt64, 1}, 1).wait();
  });
  EXPECT_EQ(values, (std::array<std::int64_t, 3>{6, 6, 6}));
}

}  // namespace
}  // namespace example
