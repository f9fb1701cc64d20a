// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/batch_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

BatchPlan plan(const char* split, std::uint64_t batches, Sampling sampling = Sampling::kSequential) {
  BatchPlan::Settings settings;
  settings.split = split;
  settings.samples = batches;
  settings.sampling = sampling;
  return {settings, Purpose::kEvaluate};
}

Order train(std::uint64_t id, std::uint64_t batches, LoaderCursor cursor) {
  return {.id = id, .kind = OrderKind::kTrain, .batches = batches, .cursor = cursor};
}

Order evaluate(std::uint64_t id, std::uint64_t batches, std::uint64_t epoch = 0, const char* split = "validate") {
  return {.id = id, .kind = OrderKind::kEvaluate, .split = split, .batches = batches, .epoch = epoch};
}

class BatchSequenceTest : public ::testing::Test {
 protected:
  /// Returns the next jobs as texts with split, epoch and place, such as "train 0/3".
  std::vector<std::string> read(int count) {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) {
      const std::optional<Job> job = sequence_.next();
      if (!job) {
        texts.push_back("none");
        continue;
      }
      jobs_.push_back(*job);
      texts.push_back(fmt::format("{} {}/{}", job->plan->split(), job->place.epoch, job->place.samples));
    }
    return texts;
  }
  /// Sends the oldest unsent job, and returns its order.
  std::uint64_t send() {
    const std::uint64_t order = sequence_.send(jobs_.front()).order;
    jobs_.erase(jobs_.begin());
    return order;
  }

  BatchPlan train_ = plan("train", 5);
  std::map<std::string, BatchPlan> evaluate_{{"validate", plan("validate", 3)},
                                             {"drawn", plan("drawn", 3, Sampling::kReplacement)}};
  BatchSequence sequence_{&train_, evaluate_};
  std::vector<Job> jobs_;
};

TEST_F(BatchSequenceTest, OrdersAreReadOneAfterAnotherThenTrainingIsGuessed) {
  sequence_.add(train(1, 2, {0, 0}));
  sequence_.add(evaluate(2, 0));
  sequence_.add(train(3, 1, {0, 2}));
  EXPECT_THAT(read(8), ElementsAre("train 0/0", "train 0/1", "validate 0/0", "validate 0/1", "validate 0/2",
                                   "train 0/2", "train 0/3", "train 0/4"));
  EXPECT_TRUE(jobs_[4].last_in_epoch);
  EXPECT_FALSE(jobs_[3].last_in_epoch);
  EXPECT_EQ(jobs_[2].next.samples, 2u);  // An evaluation does not change the position of training.
  for (const std::uint64_t order : {1, 1, 2, 2, 2, 3}) EXPECT_EQ(send(), order);
  EXPECT_FALSE(sequence_.wanted());
  EXPECT_EQ(sequence_.cursor().samples, 3u);
}

TEST_F(BatchSequenceTest, GuessesBecomeTheNextTrainOrder) {
  EXPECT_THAT(read(3), ElementsAre("train 0/0", "train 0/1", "train 0/2"));
  EXPECT_FALSE(sequence_.wanted());
  // The order needs fewer batches than were guessed, so one remains a guess.
  EXPECT_EQ(sequence_.add(train(1, 2, {0, 0})), 0u);
  EXPECT_EQ(sequence_.add(train(2, 2, {0, 2})), 0u);  // This order needs more batches than were guessed.
  EXPECT_THAT(read(2), ElementsAre("train 0/3", "train 0/4"));
  for (const std::uint64_t order : {1, 1, 2, 2}) EXPECT_EQ(send(), order);
}

TEST_F(BatchSequenceTest, GuessesAreVoidWhenAnotherOrderComes) {
  read(3);
  EXPECT_EQ(sequence_.add(evaluate(1, 1)), 3u);
  EXPECT_THAT(read(2), ElementsAre("validate 0/0", "train 0/0"));
  EXPECT_EQ(sequence_.add(train(2, 1, {4, 3})), 1u);
  EXPECT_THAT(read(3), ElementsAre("train 4/3", "train 4/4", "train 5/0"));
  EXPECT_TRUE(jobs_[jobs_.size() - 2].last_in_epoch);
}

TEST_F(BatchSequenceTest, AnOrderStartsAtItsCursorWhileOthersAreStillUnread) {
  sequence_.add(train(1, 2, {0, 0}));
  sequence_.add(train(2, 1, {7, 5}));  // The end of epoch 7, which has five batches.
  EXPECT_THAT(read(4), ElementsAre("train 0/0", "train 0/1", "train 8/0", "train 8/1"));
}

TEST_F(BatchSequenceTest, ATrainOrderOfZeroBatchesEndsWithTheEpoch) {
  sequence_.add(train(1, 0, {0, 3}));
  sequence_.add(evaluate(2, 1));
  EXPECT_THAT(read(3), ElementsAre("train 0/3", "train 0/4", "validate 0/0"));
}

TEST_F(BatchSequenceTest, AnEvaluationOfZeroBatchesTakesAllAndDrawsGoBeyond) {
  sequence_.add(evaluate(1, 0, 7));
  sequence_.add(evaluate(2, 4, 7, "drawn"));
  EXPECT_THAT(read(7), ElementsAre("validate 0/0", "validate 0/1", "validate 0/2", "drawn 0/0", "drawn 0/1",
                                   "drawn 0/2", "drawn 0/3"));
  EXPECT_EQ(sequence_.send(jobs_[0]).epoch, 7u);
}

TEST_F(BatchSequenceTest, StopVoidsEverythingAndEndsTheGuessing) {
  sequence_.add(train(1, 4, {2, 0}));
  read(2);
  send();
  EXPECT_EQ(sequence_.add({.id = 2, .kind = OrderKind::kStop}), BatchSequence::kEverything);
  EXPECT_FALSE(sequence_.wanted());
  EXPECT_THAT(read(1), ElementsAre("none"));
  EXPECT_EQ(sequence_.cursor().epoch, 2u);
  EXPECT_EQ(sequence_.cursor().samples, 1u);
}

TEST_F(BatchSequenceTest, CheckpointsAndGenerationNeedNoBatches) {
  sequence_.add({.id = 1, .kind = OrderKind::kCheckpoint});
  sequence_.add({.id = 2, .kind = OrderKind::kGenerate, .split = "predict"});
  EXPECT_FALSE(sequence_.wanted());
}

TEST_F(BatchSequenceTest, WhatCannotBeServedIsNamed) {
  const auto message_of = [](BatchSequence& sequence, const Order& order) -> std::string {
    try {
      sequence.add(order);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message_of(sequence_, evaluate(4, 1, 0, "test")),
              HasSubstr("order 4 (evaluate): no split named 'test'; known: drawn, validate"));
  EXPECT_THAT(message_of(sequence_, evaluate(5, 4)),
              HasSubstr("order 5 (evaluate): 4 batches of 'validate' are wanted; allowed: at most 3 (0 = all)"));
  const BatchPlan empty = plan("train", 0);
  BatchSequence without(&empty, evaluate_);
  EXPECT_FALSE(without.next().has_value());
  EXPECT_THAT(message_of(without, train(1, 1, {})), HasSubstr("lower batch_size or set drop_last = false"));
  BatchSequence none(nullptr, evaluate_);
  EXPECT_THAT(message_of(none, train(1, 1, {})), HasSubstr("no batch for this rank"));
}

}  // namespace
}  // namespace trainyard
