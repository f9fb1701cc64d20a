// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/prefetcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "components/data_loader/data_loader_testing.h"

namespace trainyard {
namespace {

using testing::Numbers;

/// A prefetcher for the training samples 0, 1, 2, ... in batches of 10.
class PrefetcherTest : public ::testing::Test {
 protected:
  void start(std::size_t slots, std::size_t workers) {
    prefetcher_ = std::make_unique<Prefetcher>(reader_, layout_, pool_, slots, workers, [this] {
      const std::lock_guard lock(mutex_);
      woken_ = true;
      changed_.notify_all();
    });
  }
  void push(std::uint64_t batch) {
    prefetcher_->push({&plan_, {0, batch * 10}, {0, batch * 10 + 10}, false});
    prefetcher_->publish();
  }
  /// Waits for the head in the same way as the data loader: if head() returns null, waits until `wake` is called.
  Prefetcher::Slot* wait_for_head() {
    while (true) {
      if (Prefetcher::Slot* slot = prefetcher_->head()) return slot;
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, std::chrono::seconds(20), [this] { return woken_; })) return nullptr;
      woken_ = false;
    }
  }
  std::uint64_t first_number(const Prefetcher::Slot& slot) {
    std::uint64_t number = 0;
    std::memcpy(&number, slot.buffer.data(), sizeof number);
    return number;
  }

  std::shared_ptr<Numbers::Control> control_ = std::make_shared<Numbers::Control>();
  DatasetContext context_;
  Numbers numbers_{context_, control_};
  SampleReader reader_{numbers_, 1};
  BatchLayout layout_{reader_.fields()};
  core::SharedPool pool_;
  BatchPlan plan_{{.split = "train", .samples = 95, .batch_size = 10}, Purpose::kEvaluate};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::unique_ptr<Prefetcher> prefetcher_;
};

TEST_F(PrefetcherTest, BatchesComeInTheOrderOfTheirJobsWhateverTheWorkers) {
  for (const std::size_t workers : {0, 1, 2, 5}) {
    start(3, workers);
    std::uint64_t pushed = 0;
    for (std::uint64_t batch = 0; batch < 10; ++batch) {
      while (pushed < 10 && prefetcher_->room() > 0) push(pushed++);
      Prefetcher::Slot* slot = wait_for_head();
      ASSERT_NE(slot, nullptr);
      EXPECT_EQ(slot->job.place.samples, batch * 10);
      EXPECT_EQ(first_number(*slot), batch * 10);
      prefetcher_->pop();
    }
    EXPECT_EQ(prefetcher_->room(), 3u);
  }
}

TEST_F(PrefetcherTest, FieldsLieBackToBackOnMultiplesOf64Bytes) {
  EXPECT_EQ(layout_.field_bytes(0, 10), 128u);
  EXPECT_EQ(layout_.field_bytes(1, 10), 64u);
  start(1, 1);
  push(9);  // The last batch has five samples, 90 to 94, so the first field has 40 bytes.
  Prefetcher::Slot* slot = wait_for_head();
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(slot->buffer.size(), 128u);
  EXPECT_EQ(first_number(*slot), 90u);
  EXPECT_EQ(std::to_integer<int>(slot->buffer.data()[64]), 90);
  EXPECT_EQ(std::to_integer<int>(slot->buffer.data()[64 + 14]), 94);
}

TEST_F(PrefetcherTest, DiscardedJobsAreNotGivenOutAndFreeTheirSlots) {
  for (const std::size_t workers : {0, 1, 3}) {
    start(4, workers);
    for (const std::uint64_t batch : {0, 1, 2}) push(batch);
    prefetcher_->discard(2);
    push(7);
    EXPECT_EQ(wait_for_head()->job.place.samples, 0u);
    prefetcher_->pop();
    EXPECT_EQ(wait_for_head()->job.place.samples, 70u);
    prefetcher_->pop();
    EXPECT_EQ(prefetcher_->room(), 4u);
  }
}

TEST_F(PrefetcherTest, ADiscardedJobThatIsBeingReadEndsAfterItsSample) {
  control_->close_gate();
  start(2, 1);
  push(0);
  control_->wait_for_reader();
  prefetcher_->discard(~std::uint64_t{0});
  push(3);
  EXPECT_EQ(prefetcher_->head(), nullptr);
  control_->open_gate();
  EXPECT_EQ(wait_for_head()->job.place.samples, 30u);
  // The sample whose reader waited at the gate, and the ten that were requested afterwards.
  EXPECT_EQ(control_->samples_read.load(), 11u);
}

/// Jobs end at every possible moment of head(), which is called without a pause.
TEST_F(PrefetcherTest, ADiscardedJobThatEndsWhileTheHeadIsAskedForIsNotGivenOut) {
  start(1, 1);
  for (int i = 0; i < 2000; ++i) {
    push(0);
    prefetcher_->discard(1);
    while (prefetcher_->room() == 0) ASSERT_EQ(prefetcher_->head(), nullptr) << i;
  }
}

TEST_F(PrefetcherTest, AnErrorComesAtItsPlaceInTheOrder) {
  control_->broken = 15;
  start(4, 2);
  push(0);
  push(1);
  EXPECT_FALSE(wait_for_head()->error);
  prefetcher_->pop();
  Prefetcher::Slot* slot = wait_for_head();
  ASSERT_TRUE(slot->error);
  EXPECT_THROW(std::rethrow_exception(slot->error), Error);
}

TEST_F(PrefetcherTest, ABatchThatMemoryCannotHoldSaysWhatTakesLess) {
  const BatchLayout huge({{"input", static_cast<std::uint8_t>(DType::kUInt8), {std::int64_t{1} << 56}}});
  Prefetcher prefetcher(reader_, huge, pool_, 3, 0, [] {});
  prefetcher.push({&plan_, {0, 0}, {0, 1}, false});
  Prefetcher::Slot* slot = prefetcher.head();
  ASSERT_NE(slot, nullptr);
  ASSERT_TRUE(slot->error);
  EXPECT_THAT([&] { std::rethrow_exception(slot->error); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr(
                  "a batch of 10 samples of 'train' takes 720575940379279360 bytes, and 3 batches are read ahead; a "
                  "smaller batch_size or prefetch takes less")));
}

TEST_F(PrefetcherTest, EndsWhileWorkIsLeft) {
  control_->close_gate();
  start(4, 2);
  for (std::uint64_t batch = 0; batch < 4; ++batch) push(batch);
  control_->wait_for_reader();
  std::jthread opener([this] { control_->open_gate(); });
  prefetcher_.reset();
  EXPECT_LT(control_->samples_read.load(), 40u + 1);
}

TEST_F(PrefetcherTest, MemoryIsUsedAgain) {
  start(2, 1);
  for (std::uint64_t batch = 0; batch < 9; ++batch) {
    push(batch);
    ASSERT_NE(wait_for_head(), nullptr);
    prefetcher_->pop();
  }
  EXPECT_LE(pool_.reserved_bytes(), 2 * 8192u);  // One or two segments, each of one page and a header.
}

}  // namespace
}  // namespace trainyard
