// SPDX-License-Identifier: Apache-2.0
#include "tensors/rank_generator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace trainyard {
namespace {

void seed(std::uint64_t number) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(number);
}

/// Returns the numbers that a rank would draw if it were alone in its process.
at::Tensor alone(std::uint64_t number) {
  seed(number);
  return at::cat({at::rand({100}), at::rand({100})});
}

TEST(RankGeneratorTest, ThreadsDrawWhatProcessesOfTheirOwnWould) {
  const std::vector<at::Tensor> expected{alone(1), alone(2), alone(3)};
  std::vector<std::unique_ptr<RankGenerator>> ranks;
  for (int i = 0; i < 3; ++i) ranks.push_back(std::make_unique<RankGenerator>());
  std::vector<at::Tensor> drawn(3);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      {
        const auto held = ranks[i]->hold();
        seed(i + 1);
        ranks[i]->adopt();
      }
      for (int part = 0; part < 2; ++part) {
        const RankGenerator::Turn turn(*ranks[i]);
        const at::Tensor numbers = at::rand({100});
        drawn[i] = part == 0 ? numbers : at::cat({drawn[i], numbers});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(drawn[i].equal(expected[i])) << "rank " << i;
}

TEST(RankGeneratorTest, WhoeverDoesNotDrawWaitsForNobodyInTheEnd) {
  RankGenerator one, other;
  {
    const auto held = one.hold();
    one.adopt();
  }
  for (int i = 0; i < 3; ++i) RankGenerator::Turn turn(one);
  const auto held = other.hold();
  RankGenerator::Turn turn(one);  // If the turn were not free, this would wait forever.
}

}  // namespace
}  // namespace trainyard
