// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/data_loader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "components/data_loader/data_loader_testing.h"
#include "core/testing/rig.h"
#include "messages/json.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Numbers;
using testing::Rig;
using BatchPointer = std::shared_ptr<const Batch>;
using Numbers64 = std::vector<std::int64_t>;

/// A data loader with a dataset that the test provides.
class TestLoader final : public DataLoader {
 public:
  using DataLoader::DataLoader;
  std::shared_ptr<Numbers::Control> control;

 protected:
  std::unique_ptr<Dataset> make_dataset() override {
    context_.where = "dataset 'numbers'";
    return std::make_unique<Numbers>(context_, control);
  }

 private:
  DatasetContext context_;
};

Order train(std::uint64_t id, std::uint64_t batches, LoaderCursor cursor) {
  return {.id = id, .kind = OrderKind::kTrain, .batches = batches, .cursor = cursor};
}
Order evaluate(std::uint64_t id, const char* split, std::uint64_t batches = 0) {
  return {.id = id, .kind = OrderKind::kEvaluate, .split = split, .batches = batches};
}

Numbers64 numbers(const Batch& batch) {
  const auto values = batch.tensors.at(0).as<std::int64_t>();
  return {values.begin(), values.end()};
}

Numbers64 joined(const std::vector<BatchPointer>& batches) {
  Numbers64 all;
  for (const BatchPointer& batch : batches) {
    const Numbers64 own = numbers(*batch);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

/// A data loader in a test fixture (Rig), to which the test sends orders.
class Loading {
 public:
  explicit Loading(const std::string& parameters, std::uint32_t rank = 0, std::uint32_t world_size = 1) {
    rig.world().rank = rank;
    rig.world().world_size = world_size;
    loader = &rig.add<TestLoader>("data_loader", fmt::format(R"({{"dataset": "numbers"{}}})", parameters));
    loader->control = control;
  }
  ~Loading() { control->open_gate(); }

  std::vector<BatchPointer> batches() const { return rig.received<Batch>("batches"); }
  /// Runs until `count` batches have arrived in total, and returns all of them.
  std::vector<BatchPointer> wait(std::size_t count) {
    rig.run_until([&] { return batches().size() >= count; });
    return batches();
  }
  std::vector<BatchPointer> train_epoch(std::uint64_t epoch) {
    const std::uint64_t count = rig.received<DatasetInfo>("dataset").at(0)->splits.at(0).batches;
    const std::size_t before = batches().size();
    rig.send("/orders", train(++order, count, {epoch, 0}));
    std::vector<BatchPointer> all = wait(before + count);
    return {all.begin() + static_cast<std::ptrdiff_t>(before), all.end()};
  }
  LoaderCursor cursor() { return from_json<LoaderCursor>(loader->services().at(0)->call("{}")); }

  Rig rig;
  TestLoader* loader = nullptr;
  std::shared_ptr<Numbers::Control> control = std::make_shared<Numbers::Control>();
  std::uint64_t order = 0;
};

TEST(DataLoaderTest, TellsWhatItWillDeliver) {
  Loading loading(R"(, "batch_size": 8, "drop_last": false)", 1, 2);
  loading.rig.start();
  const auto sent = loading.rig.received<DatasetInfo>("dataset");
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0]->batch_size, 8u);
  EXPECT_EQ(sent[0]->splits[0].samples, 100u);
  EXPECT_EQ(sent[0]->splits[0].batches, 7u);  // This rank has 50 samples.
  EXPECT_EQ(sent[0]->splits[1].batches, 2u);  // This rank has 12 of the 25 samples.
  EXPECT_EQ(sent[0]->fields[1].name, "bytes");
}

TEST(DataLoaderTest, EverySampleOfAnEpochComesOnceOverAllRanksWhateverTheWorkers) {
  Numbers64 expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  for (const int workers : {0, 1, 4}) {
    for (const std::uint32_t world_size : {1u, 3u}) {
      Numbers64 all;
      for (std::uint32_t rank = 0; rank < world_size; ++rank) {
        Loading loading(fmt::format(R"(, "batch_size": 8, "drop_last": false, "workers": {})", workers), rank,
                        world_size);
        loading.rig.start();
        const Numbers64 own = joined(loading.train_epoch(2));
        all.insert(all.end(), own.begin(), own.end());
        loading.rig.stop();
      }
      EXPECT_NE(all, expected);  // Before sorting, the order is random.
      std::ranges::sort(all);
      EXPECT_EQ(all, expected) << workers << " workers, " << world_size << " ranks";
    }
  }
}

TEST(DataLoaderTest, WorkersAndPrefetchDoNotChangeTheStream) {
  Numbers64 first;
  for (const auto& [workers, prefetch] : {std::pair(0, 1), {0, 4}, {1, 1}, {1, 4}, {3, 2}, {8, 32}}) {
    Loading loading(fmt::format(R"(, "batch_size": 7, "workers": {}, "prefetch": {})", workers, prefetch));
    loading.rig.start();
    Numbers64 stream = joined(loading.train_epoch(0));
    const Numbers64 second = joined(loading.train_epoch(1));
    EXPECT_NE(stream, second);
    stream.insert(stream.end(), second.begin(), second.end());
    if (first.empty()) first = stream;
    EXPECT_EQ(stream, first) << workers << " workers, prefetch " << prefetch;
    loading.rig.stop();
  }
}

TEST(DataLoaderTest, BatchesSayWhatTheyAre) {
  Loading loading(R"(, "batch_size": 30, "drop_last": false)");
  loading.rig.start();
  loading.rig.send("/orders", train(5, 4, {1, 0}));
  const auto batches = loading.wait(4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(batches[i]->order, 5u);
    EXPECT_EQ(batches[i]->split, "train");
    EXPECT_EQ(batches[i]->epoch, 1u);
    EXPECT_EQ(batches[i]->index, i);
    EXPECT_EQ(batches[i]->samples, i < 3 ? 30u : 10u);
    EXPECT_EQ(batches[i]->last_in_epoch, i == 3);
    EXPECT_EQ(batches[i]->next.epoch, i < 3 ? 1u : 2u);
    EXPECT_EQ(batches[i]->next.samples, (i + 1) % 4 * 30);
    const std::vector<Tensor>& tensors = batches[i]->tensors;
    EXPECT_THAT(tensors[1].shape, ElementsAre(batches[i]->samples, 3));
    EXPECT_TRUE(tensors[0].buffer.same_as(tensors[1].buffer));  // All fields share one buffer.
    EXPECT_EQ(tensors[1].offset % 64, 0u);
    EXPECT_TRUE(tensors[0].buffer.shared().has_value());  // Other processes can read it in place.
    EXPECT_EQ(tensors[1].as<std::uint8_t>().back(), numbers(*batches[i]).back());
  }
}

TEST(DataLoaderTest, ARankThatHasNoRowsLeftSendsAnEmptyBatch) {
  for (const int workers : {0, 2}) {
    // The ranks have 34, 33 and 33 of the 100 samples.
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      Loading loading(fmt::format(R"(, "batch_size": 11, "drop_last": false, "workers": {})", workers), rank, 3);
      loading.rig.start();
      EXPECT_EQ(loading.rig.received<DatasetInfo>("dataset").at(0)->splits[0].batches, 4u);
      const auto batches = loading.train_epoch(0);
      EXPECT_EQ(batches[2]->samples, 11u);
      EXPECT_EQ(batches[2]->world_samples, 33u);
      EXPECT_EQ(batches[3]->samples, rank == 0 ? 1u : 0u);
      EXPECT_EQ(batches[3]->world_samples, 1u);
      EXPECT_THAT(batches[3]->tensors.at(1).shape, ElementsAre(batches[3]->samples, 3));
      EXPECT_TRUE(batches[3]->last_in_epoch);
      EXPECT_EQ(batches[3]->next.epoch, 1u);
      EXPECT_EQ(loading.train_epoch(1).size(), 4u) << "the next epoch begins on all ranks at once";
      loading.rig.stop();
    }
  }
}

TEST(DataLoaderTest, MoreRanksThanSamplesEvaluateTogether) {
  Numbers64 all;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    Loading loading(R"(, "batch_size": 2)", rank, 4);
    loading.control->splits["validate"] = 3;
    loading.rig.start();
    loading.rig.send("/orders", evaluate(1, "validate"));
    const Numbers64 own = joined(loading.wait(1));
    EXPECT_EQ(own.size(), rank < 3 ? 1u : 0u);
    all.insert(all.end(), own.begin(), own.end());
    loading.rig.stop();
  }
  EXPECT_THAT(all, ElementsAre(0, 1, 2));
}

TEST(DataLoaderTest, RanksOfOneShardHaveTheSameBatches) {
  const auto stream = [](const std::string& parameters, std::uint32_t rank) {
    Loading loading(R"(, "batch_size": 10)" + parameters, rank, 4);
    loading.rig.start();
    const auto batches = loading.train_epoch(0);
    EXPECT_EQ(batches.at(0)->world_samples, 40u);
    return joined(batches);
  };
  const Numbers64 first = stream(R"(, "shard": 0, "shards": 2)", 0);
  EXPECT_EQ(stream(R"(, "shard": 0, "shards": 2)", 1), first);
  EXPECT_NE(stream(R"(, "shard": 1, "shards": 2)", 2), first);
  EXPECT_NE(stream(R"(, "shards": 2)", 1), first) << "the shard is the rank's";
  EXPECT_LT(stream("", 0).size(), first.size());
}

TEST(DataLoaderTest, WhoeverReadsAPartAloneKnowsOfNoOthers) {
  Loading loading(R"(, "batch_size": 10, "shard": 1, "shards": 4)");
  loading.rig.start();
  const auto batches = loading.train_epoch(0);
  EXPECT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0]->world_samples, 0u);
}

TEST(DataLoaderTest, AShardThatIsNotThereIsRefused) {
  const auto message = [](const std::string& parameters) -> std::string {
    Loading loading(parameters, 2, 4);
    try {
      loading.rig.start();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(R"(, "shards": 2)"),
              HasSubstr("'data_loader': shard = -1 and shards = 2 on rank 2 of 4 make shard 2 of 2; allowed: 0 to "
                        "shards - 1, and shards from 1"));
  EXPECT_THAT(message(R"(, "shard": 4)"), HasSubstr("make shard 4 of 4"));
  EXPECT_THAT(message(R"(, "shard": 0, "shards": 0)"), HasSubstr("make shard 0 of 0"));
}

TEST(DataLoaderTest, DropLastLeavesOutTheShortBatchOfTrainingAlone) {
  Loading loading(R"(, "batch_size": 30)");
  loading.rig.start();
  EXPECT_EQ(loading.train_epoch(0).size(), 3u);
  loading.rig.send("/orders", evaluate(2, "train"));
  loading.rig.send("/orders", evaluate(3, "validate"));
  const auto batches = loading.wait(8);
  EXPECT_EQ(batches[6]->samples, 10u);
  EXPECT_TRUE(batches[6]->last_in_epoch);
  EXPECT_EQ(batches[7]->samples, 25u);
}

TEST(DataLoaderTest, GoesOnFromACursorAsIfNothingHadHappened) {
  Loading whole(R"(, "batch_size": 8)");
  whole.rig.start();
  whole.rig.send("/orders", train(1, 30, {0, 0}));
  const auto expected = whole.wait(30);
  Loading resumed(R"(, "batch_size": 8, "workers": 2)");
  resumed.rig.start();
  resumed.rig.send("/orders", train(1, 13, expected[16]->next));
  const auto batches = resumed.wait(13);
  for (std::size_t i = 0; i < 13; ++i) EXPECT_EQ(numbers(*batches[i]), numbers(*expected[17 + i])) << i;
  EXPECT_EQ(batches[12]->next.epoch, expected[29]->next.epoch);
}

/// The number of ranks of a run, and their batch size.
struct Layout {
  std::uint32_t ranks;
  int batch_size;
};

/// Reads training batches from `cursor` on, until `until` samples of the epoch are used or the epoch ends, as a run
/// with this layout would, and advances the cursor. Returns the samples that all ranks have used.
Numbers64 used_by(const Layout& layout, bool drop_last, std::uint64_t until, LoaderCursor& cursor) {
  Numbers64 all;
  const LoaderCursor from = cursor;
  for (std::uint32_t rank = 0; rank < layout.ranks; ++rank) {
    Loading loading(fmt::format(R"(, "batch_size": {}, "drop_last": {}, "workers": 0)", layout.batch_size, drop_last),
                    rank, layout.ranks);
    loading.control->splits["train"] = 1007;
    loading.rig.start();
    loading.rig.run_until_idle();
    const SplitInfo train_split = loading.rig.received<DatasetInfo>("dataset").at(0)->splits.at(0);
    std::uint64_t batches = train_split.batches_from(from.samples);
    if (until > 0) batches = (until - from.samples) / train_split.batch_samples;
    if (batches == 0) continue;
    loading.rig.send("/orders", train(1, batches, from));
    const std::vector<BatchPointer> sent = loading.wait(batches);
    const Numbers64 own = joined(sent);
    all.insert(all.end(), own.begin(), own.end());
    cursor = sent.back()->next;
  }
  return all;
}

TEST(DataLoaderTest, EverySampleComesOnceWhateverTheRanksAndTheBatchSizeAreAfterAResume) {
  std::vector<Layout> layouts;
  for (const std::uint32_t ranks : {1, 2, 3}) {
    for (const int batch_size : {5, 10, 20}) layouts.push_back({ranks, batch_size});
  }
  for (const Layout& before : layouts) {
    for (const Layout& after : layouts) {
      for (const bool drop_last : {false, true}) {
        SCOPED_TRACE(fmt::format("{} x {}, then {} x {}, drop_last = {}", before.ranks, before.batch_size, after.ranks,
                                 after.batch_size, drop_last));
        LoaderCursor cursor;
        Numbers64 all = used_by(before, drop_last, 500, cursor);
        ASSERT_GT(all.size(), 400u);
        ASSERT_EQ(cursor.samples, all.size());
        const Numbers64 rest = used_by(after, drop_last, 0, cursor);
        all.insert(all.end(), rest.begin(), rest.end());
        std::ranges::sort(all);
        EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << "a sample came twice";
        EXPECT_EQ(cursor.epoch, 1u) << "the epoch is over";
        if (drop_last) {
          EXPECT_GT(all.size() + after.ranks * static_cast<std::size_t>(after.batch_size), 1007u)
              << "more than a batch";
        } else {
          EXPECT_EQ(all.size(), 1007u);
        }
      }
    }
  }
}

TEST(DataLoaderTest, OrdersAreServedInTurnAndTheCursorFollowsTraining) {
  Loading loading(R"(, "batch_size": 10)");
  loading.rig.start();
  EXPECT_EQ(loading.cursor().samples, 0u);
  loading.rig.send("/orders", train(1, 3, {0, 0}));
  loading.rig.send("/orders", evaluate(2, "validate"));
  loading.rig.send("/orders", Order{.id = 3, .kind = OrderKind::kCheckpoint});
  loading.rig.send("/orders", train(4, 9, {0, 30}));
  loading.rig.send("/orders", Order{.id = 5, .kind = OrderKind::kPredict, .split = "validate", .batches = 1});
  const auto batches = loading.wait(16);
  std::vector<std::uint64_t> orders;
  for (const BatchPointer& batch : batches) orders.push_back(batch->order);
  EXPECT_THAT(orders, ElementsAre(1, 1, 1, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5));
  EXPECT_EQ(batches[3]->index, 0u);
  EXPECT_EQ(batches[3]->next.samples, 30u);
  EXPECT_EQ(loading.cursor().epoch, 1u);
  EXPECT_EQ(loading.cursor().samples, 20u);
}

TEST(DataLoaderTest, EvaluationIsInOrderAndTheSameEveryTime) {
  for (const char* sampling : {"sequential", "replacement"}) {
    Loading loading(fmt::format(R"(, "batch_size": 10, "evaluation_sampling": "{}")", sampling));
    loading.rig.start();
    loading.rig.send("/orders", evaluate(1, "validate", 2));
    loading.rig.send("/orders", train(2, 1, {0, 0}));
    loading.rig.send("/orders", evaluate(3, "validate", 2));
    const auto batches = loading.wait(5);
    EXPECT_EQ(joined({batches[0], batches[1]}), joined({batches[3], batches[4]}));
    if (std::string(sampling) == "sequential") {
      EXPECT_THAT(numbers(*batches[1]), ElementsAre(10, 11, 12, 13, 14, 15, 16, 17, 18, 19));
      EXPECT_FALSE(batches[0]->last_in_epoch);
      EXPECT_TRUE(batches[1]->last_in_epoch);
    }
  }
}

TEST(DataLoaderTest, ReadsAheadNoFurtherThanPrefetchAndSendsOnlyWhileThereIsRoom) {
  for (const int workers : {1, 3}) {
    Loading loading(fmt::format(R"(, "batch_size": 10, "workers": {}, "prefetch": 2)", workers));
    loading.rig.set_window("batches", 3);
    loading.rig.start();
    loading.rig.send("/orders", train(1, 10, {0, 0}));
    loading.wait(3);
    // Three batches have been sent, and two wait in the slots, although the order would allow further batches.
    loading.rig.run_until([&] { return loading.control->samples_read >= 50; });
    loading.rig.run_until_idle();
    EXPECT_EQ(loading.batches().size(), 3u);
    loading.rig.take("batches", 1);
    loading.wait(4);
    loading.rig.run_until_idle();
    EXPECT_EQ(loading.batches().size(), 4u);
    EXPECT_LE(loading.control->samples_read, 60u);
    loading.rig.take("batches", 100);
    EXPECT_EQ(loading.wait(10).size(), 10u);
    loading.rig.stop();
  }
}

TEST(DataLoaderTest, ReadsTheFirstBatchesBeforeTheFirstOrder) {
  Loading loading(R"(, "batch_size": 10, "prefetch": 3)");
  loading.rig.start();
  loading.rig.run_until([&] { return loading.control->samples_read == 30; });
  EXPECT_EQ(loading.batches().size(), 0u);
  loading.rig.send("/orders", train(1, 1, {0, 0}));
  EXPECT_EQ(loading.wait(1)[0]->order, 1u);
}

TEST(DataLoaderTest, StopDropsWhatWasNotSent) {
  for (const int workers : {0, 1, 2}) {
    Loading loading(fmt::format(R"(, "batch_size": 10, "workers": {})", workers));
    loading.rig.set_window("batches", 2);
    loading.rig.start();
    loading.rig.send("/orders", train(1, 10, {0, 0}));
    loading.rig.send("/orders", evaluate(2, "validate"));
    loading.wait(2);
    loading.rig.send("/orders", Order{.id = 3, .kind = OrderKind::kStop});
    loading.rig.run_until_idle();
    loading.rig.take("batches", 100);
    loading.rig.run_until_idle();
    EXPECT_EQ(loading.batches().size(), 2u);
    EXPECT_EQ(loading.cursor().samples, 20u);
    loading.rig.send("/orders", train(4, 1, {0, 20}));  // Orders after the stop are carried out.
    const auto batches = loading.wait(3);
    EXPECT_EQ(batches[2]->order, 4u);
    EXPECT_EQ(batches[2]->index, 2u);
    loading.rig.stop();
  }
}

TEST(DataLoaderTest, EndsWhileAWorkerIsReading) {
  Loading loading(R"(, "batch_size": 10)");
  loading.control->close_gate();
  loading.rig.start();
  loading.rig.send("/orders", train(1, 10, {0, 0}));
  loading.control->wait_for_reader();
  std::jthread opener([&] { loading.control->open_gate(); });
  loading.rig.stop();
  EXPECT_LE(loading.batches().size(), 10u);
}

TEST(DataLoaderTest, WhatTheDatasetThrowsIsReportedWithTheComponentsName) {
  for (const int workers : {0, 2}) {
    Loading loading(fmt::format(R"(, "batch_size": 10, "sampling": "sequential", "workers": {})", workers));
    loading.control->broken = 35;
    loading.rig.start();
    loading.rig.send("/orders", train(1, 10, {0, 0}));
    try {
      loading.wait(10);
      FAIL() << "no error came";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("data_loader: numbers.bin at offset 280: broken"));
    }
    EXPECT_EQ(loading.batches().size(), 3u);  // The batches before the error have been delivered.
  }
}

TEST(DataLoaderTest, OrdersThatCannotBeServedAreRefused) {
  Loading loading(R"(, "batch_size": 101)");
  loading.rig.start();
  loading.rig.send("/orders", train(1, 1, {0, 0}));
  try {
    loading.rig.run_until_idle();
    FAIL() << "no error came";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("lower batch_size or set drop_last = false"));
  }
}

}  // namespace
}  // namespace trainyard
