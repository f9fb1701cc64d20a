// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace trainyard {
namespace {

using Samples = std::vector<std::uint64_t>;

BatchPlan::Settings settings(std::uint64_t samples, std::uint64_t batch_size, Sampling sampling, bool drop_last) {
  BatchPlan::Settings made;
  made.split = "train";
  made.samples = samples;
  made.batch_size = batch_size;
  made.sampling = sampling;
  made.drop_last = drop_last;
  made.seed = 1;
  return made;
}

/// Returns the samples of all batches of one rank in an epoch. Also checks the size of every batch.
Samples epoch_of(const BatchPlan& plan, std::uint64_t epoch) {
  Samples all;
  Samples batch;
  for (std::uint64_t i = 0; i < plan.batches(); ++i) {
    const std::uint64_t place = i * plan.info().batch_samples;
    plan.samples_of({epoch, place}, batch);
    EXPECT_EQ(batch.size(), plan.rows(place));
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

Samples epoch_over_ranks(BatchPlan::Settings base, std::uint64_t world_size, std::uint64_t epoch) {
  Samples all;
  for (std::uint64_t rank = 0; rank < world_size; ++rank) {
    base.rank = rank;
    base.world_size = world_size;
    const Samples own = epoch_of(BatchPlan(base, Purpose::kTrain), epoch);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

TEST(BatchPlanTest, WithoutDropLastEverySampleComesExactlyOnceOverAllRanks) {
  for (const std::uint64_t samples : {1, 7, 64, 100, 101}) {
    Samples expected(samples);
    std::iota(expected.begin(), expected.end(), 0);
    for (const std::uint64_t world_size : {1, 2, 3, 8}) {
      for (const Sampling sampling : {Sampling::kShuffle, Sampling::kSequential}) {
        Samples all = epoch_over_ranks(settings(samples, 8, sampling, false), world_size, 3);
        std::ranges::sort(all);
        EXPECT_EQ(all, expected) << samples << " samples, " << world_size << " ranks";
      }
    }
  }
}

/// Checks that all ranks have the same number of batches, and that their batches together contain the samples of the
/// epoch.
void expect_ranks_in_step(const BatchPlan::Settings& base) {
  SCOPED_TRACE(::testing::Message() << base.samples << " samples, batches of " << base.batch_size << ", "
                                    << base.world_size << " ranks, drop_last " << base.drop_last);
  std::vector<BatchPlan> ranks;
  for (std::uint64_t rank = 0; rank < base.world_size; ++rank) {
    BatchPlan::Settings own = base;
    own.rank = rank;
    ranks.emplace_back(own, Purpose::kTrain);
  }
  Samples all, batch;
  for (std::uint64_t i = 0; i < ranks[0].batches(); ++i) {
    const std::size_t before = all.size();
    const std::uint64_t place = i * ranks[0].info().batch_samples;
    for (const BatchPlan& rank : ranks) {
      ASSERT_EQ(rank.batches(), ranks[0].batches());
      rank.samples_of({2, place}, batch);
      EXPECT_EQ(batch.size(), rank.rows(place));
      EXPECT_TRUE(!base.drop_last || batch.size() == base.batch_size);
      all.insert(all.end(), batch.begin(), batch.end());
    }
    EXPECT_GT(all.size(), before) << "a batch that is empty everywhere";
    for (const BatchPlan& rank : ranks) EXPECT_EQ(rank.world_rows(place), all.size() - before);
  }
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  const std::uint64_t global_batch = base.batch_size * base.world_size;
  EXPECT_EQ(all.size(), base.drop_last ? base.samples / global_batch * global_batch : base.samples);
}

TEST(BatchPlanTest, RanksHaveAsManyBatchesAndTogetherEverySampleOnce) {
  for (const std::uint64_t samples : {0, 1, 2, 3, 4, 7, 12, 13, 100, 101}) {
    for (const std::uint64_t world_size : {1, 2, 3, 4, 5}) {
      for (const std::uint64_t batch_size : {1, 2, 4, 64}) {
        for (const bool drop_last : {false, true}) {
          for (const Sampling sampling : {Sampling::kShuffle, Sampling::kSequential}) {
            BatchPlan::Settings base = settings(samples, batch_size, sampling, drop_last);
            base.world_size = world_size;
            expect_ranks_in_step(base);
          }
        }
      }
    }
  }
}

TEST(BatchPlanTest, ARankWithoutSamplesHasEmptyBatches) {
  BatchPlan::Settings made = settings(3, 2, Sampling::kSequential, false);
  made.world_size = 4;
  made.rank = 3;
  const BatchPlan plan(made, Purpose::kEvaluate);
  EXPECT_EQ(plan.batches(), 1u);
  EXPECT_EQ(plan.rows(0), 0u);
  EXPECT_EQ(plan.world_rows(0), 3u);
  EXPECT_EQ(plan.advance({0, 0}, 3).epoch, 3u) << "the cursor is everybody's";
}

TEST(BatchPlanTest, DrawsAreCountedOverAllRanks) {
  BatchPlan::Settings made = settings(10, 4, Sampling::kReplacement, false);
  made.world_size = 3;
  EXPECT_EQ(BatchPlan(made, Purpose::kTrain).world_rows(0), 12u);
}

TEST(BatchPlanTest, WithDropLastEveryRankHasAsManyFullBatchesAndNoSampleComesTwice) {
  for (const std::uint64_t world_size : {1, 2, 3, 8}) {
    Samples all = epoch_over_ranks(settings(101, 4, Sampling::kShuffle, true), world_size, 0);
    EXPECT_EQ(all.size(), 101 / world_size / 4 * 4 * world_size);
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  }
}

TEST(BatchPlanTest, RanksTakeTurnsInTheOrderOfOneRank) {
  const Samples alone = epoch_over_ranks(settings(12, 2, Sampling::kShuffle, false), 1, 5);
  const Samples shared = epoch_over_ranks(settings(12, 2, Sampling::kShuffle, false), 2, 5);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(shared[i], alone[2 * i]);
    EXPECT_EQ(shared[6 + i], alone[2 * i + 1]);
  }
}

TEST(BatchPlanTest, EpochsAndSeedsShuffleDifferently) {
  const BatchPlan plan(settings(50, 10, Sampling::kShuffle, true), Purpose::kTrain);
  EXPECT_EQ(epoch_of(plan, 1), epoch_of(plan, 1));
  EXPECT_NE(epoch_of(plan, 1), epoch_of(plan, 2));
  BatchPlan::Settings other = settings(50, 10, Sampling::kShuffle, true);
  other.seed = 2;
  EXPECT_NE(epoch_of(plan, 1), epoch_of(BatchPlan(other, Purpose::kTrain), 1));
}

TEST(BatchPlanTest, DrawsWithReplacementAreUniformAndIndependent) {
  const BatchPlan plan(settings(10'000, 100, Sampling::kReplacement, false), Purpose::kTrain);
  std::vector<int> counts(10'000);
  for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
    for (const std::uint64_t sample : epoch_of(plan, epoch)) ++counts.at(sample);
  }
  // With ten draws per sample, a fraction of exp(-10) of the samples is never drawn, and the counts have the variance
  // of a Poisson distribution.
  double squares = 0;
  for (const int count : counts) squares += (count - 10.0) * (count - 10.0);
  EXPECT_NEAR(squares / 10'000, 10, 0.7);
  EXPECT_LE(std::ranges::count(counts, 0), 10);
}

TEST(BatchPlanTest, DrawsDifferBetweenRanksAndPurposes) {
  BatchPlan::Settings made = settings(1'000'000, 8, Sampling::kReplacement, false);
  made.world_size = 2;
  const BatchPlan first(made, Purpose::kTrain);
  const BatchPlan evaluation(made, Purpose::kEvaluate);
  made.rank = 1;
  const BatchPlan second(made, Purpose::kTrain);
  Samples a, b, c;
  first.samples_of({0, 0}, a);
  second.samples_of({0, 0}, b);
  evaluation.samples_of({0, 0}, c);
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
}

TEST(BatchPlanTest, DrawsFillTheirBatchFromFewerSamples) {
  const BatchPlan plan(settings(3, 64, Sampling::kReplacement, true), Purpose::kTrain);
  EXPECT_EQ(plan.batches(), 1u);
  EXPECT_EQ(epoch_of(plan, 0).size(), 64u);
}

TEST(BatchPlanTest, ACursorMovesAcrossEpochs) {
  const BatchPlan plan(settings(50, 10, Sampling::kShuffle, true), Purpose::kTrain);
  const LoaderCursor moved = plan.advance({2, 30}, 12);
  EXPECT_EQ(moved.epoch, 5u);
  EXPECT_EQ(moved.samples, 0u);
  EXPECT_EQ(plan.advance({2, 30}, 13).samples, 10u);
  EXPECT_EQ(plan.advance({2, 50}, 0).epoch, 3u);  // The end of an epoch is the beginning of the next one.
  EXPECT_EQ(plan.advance({2, 45}, 0).epoch, 3u) << "what is left does not fill a batch";
}

/// Goes through epoch 0 from `cursor` on, with the ranks and the batch size of `layout`, until at least `end` samples
/// are used.
void use_epoch(BatchPlan::Settings layout, LoaderCursor& cursor, std::uint64_t end, Samples& used) {
  std::vector<BatchPlan> ranks;
  for (layout.rank = 0; layout.rank < layout.world_size; ++layout.rank) ranks.emplace_back(layout, Purpose::kTrain);
  cursor = ranks[0].advance(cursor, 0);
  for (Samples batch; cursor.epoch == 0 && cursor.samples < end; cursor = ranks[0].advance(cursor, 1)) {
    for (const BatchPlan& rank : ranks) {
      rank.samples_of(cursor, batch);
      used.insert(used.end(), batch.begin(), batch.end());
    }
  }
}

TEST(BatchPlanTest, AnEpochThatGoesOnWithAnotherBatchSizeOrOtherRanksUsesEverySampleOnce) {
  for (const bool drop_last : {false, true}) {
    for (const std::uint64_t batch : {5, 10, 20}) {
      for (const std::uint64_t ranks : {1, 2, 3}) {
        for (const std::uint64_t other_batch : {5, 10, 20}) {
          for (const std::uint64_t other_ranks : {1, 2, 3}) {
            SCOPED_TRACE(::testing::Message() << ranks << " x " << batch << " then " << other_ranks << " x "
                                              << other_batch << ", drop_last " << drop_last);
            BatchPlan::Settings before = settings(1007, batch, Sampling::kShuffle, drop_last), after = before;
            before.world_size = ranks;
            after.batch_size = other_batch;
            after.world_size = other_ranks;
            Samples all;
            LoaderCursor cursor;
            use_epoch(before, cursor, 500, all);
            ASSERT_LT(all.size(), 600u);
            use_epoch(after, cursor, 1007, all);
            std::ranges::sort(all);
            EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << "a sample came twice";
            if (!drop_last) {
              EXPECT_EQ(all.size(), 1007u);
            }
            if (drop_last) {
              EXPECT_GT(all.size() + other_batch * other_ranks, 1007u);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace trainyard
