// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/turnstile.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "core/rendezvous/rendezvous.h"

namespace trainyard::host {
namespace {

/// The turnstiles of all ranks of a run.
std::vector<std::unique_ptr<Turnstile>> turnstiles(std::uint32_t ranks) {
  const std::unique_ptr<core::Rendezvous> rendezvous = core::make_local_rendezvous();
  std::vector<std::unique_ptr<Turnstile>> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    PluginContext context;
    context.rank = rank;
    context.world_size = ranks;
    context.rendezvous = rendezvous.get();
    all.push_back(std::make_unique<Turnstile>(context, std::chrono::seconds(20)));
  }
  return all;
}

TEST(TurnstileTest, LetsEverybodyPassUntilItIsClosed) {
  Turnstile turnstile;
  for (int unit = 0; unit < 3; ++unit) EXPECT_TRUE(turnstile.pass());
  EXPECT_FALSE(turnstile.at_rest());
  turnstile.close();
  EXPECT_TRUE(turnstile.at_rest());
  EXPECT_FALSE(turnstile.pass());
  turnstile.reopen();
  EXPECT_FALSE(turnstile.at_rest());
  EXPECT_TRUE(turnstile.pass());
}

TEST(TurnstileTest, ARankThatIsBehindFollowsUpToTheUnitOfTheForemost) {
  const auto ranks = turnstiles(2);
  for (int unit = 0; unit < 3; ++unit) EXPECT_TRUE(ranks[0]->pass());
  EXPECT_TRUE(ranks[1]->pass());
  ranks[1]->close();
  EXPECT_FALSE(ranks[1]->at_rest());
  EXPECT_TRUE(ranks[0]->at_rest()) << "it has begun the last unit, though it has not heard of the pause";
  EXPECT_FALSE(ranks[0]->pass());
  EXPECT_TRUE(ranks[1]->pass());
  EXPECT_TRUE(ranks[1]->pass());
  EXPECT_FALSE(ranks[1]->pass());
  EXPECT_TRUE(ranks[1]->at_rest());
}

TEST(TurnstileTest, ARankThatGoesOnDoesNotCarryTheOthersAlong) {
  const auto ranks = turnstiles(2);
  EXPECT_TRUE(ranks[0]->pass());
  ranks[0]->close();
  ranks[0]->reopen();
  for (int unit = 0; unit < 5; ++unit) EXPECT_TRUE(ranks[0]->pass());
  EXPECT_TRUE(ranks[1]->pass());
  EXPECT_FALSE(ranks[1]->pass()) << "it must come to rest where the other one has rested";
  ranks[1]->close();
  EXPECT_TRUE(ranks[1]->at_rest());
  ranks[1]->reopen();
  for (int unit = 0; unit < 5; ++unit) EXPECT_TRUE(ranks[1]->pass());
  ranks[0]->close();
  EXPECT_FALSE(ranks[1]->pass());
  EXPECT_TRUE(ranks[1]->at_rest());
}

/// Ranks on separate threads rest after the same unit in every pause, whichever rank closes the turnstile, and
/// whenever.
TEST(TurnstileTest, RanksOnThreadsRestAfterTheSameUnitEveryTime) {
  constexpr std::uint32_t kRanks = 4;
  constexpr int kPauses = 50;
  const auto ranks = turnstiles(kRanks);
  std::vector<std::vector<std::uint64_t>> rested(kRanks, std::vector<std::uint64_t>(kPauses));
  std::atomic<int> asked = 0;
  std::atomic<std::uint32_t> answers = 0;
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      std::uint64_t units = 0;
      for (int pause = 0; pause < kPauses; ++pause) {
        while (asked.load() <= pause) {
          if (ranks[rank]->pass()) ++units;
          std::this_thread::yield();
          if (rank == pause % kRanks && units > static_cast<std::uint64_t>(pause)) asked.store(pause + 1);
        }
        ranks[rank]->close();
        while (!ranks[rank]->at_rest()) units += ranks[rank]->pass() ? 1 : 0;
        rested[rank][static_cast<std::size_t>(pause)] = units;
        ranks[rank]->reopen();
        // As the strategy manager does, begins the next pause only when all ranks have answered.
        answers.fetch_add(1);
        while (answers.load() < kRanks * static_cast<std::uint32_t>(pause + 1)) std::this_thread::yield();
      }
    });
  }
  threads.clear();
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) EXPECT_EQ(rested[rank], rested[0]);
}

}  // namespace
}  // namespace trainyard::host
