#include "components/strategy_manager/run_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/strategy_manager/fake_host.h"
#include "messages/error.h"

namespace trainyard::manager {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Epochs of 10 batches; validation takes 3, the test 2.
const RunFacts kFacts{.batches = {{"train", 10}, {"validate", 3}, {"test", 2}}, .writes_checkpoints = true};

std::vector<std::string> played(const RunSettings& settings, const RunFacts& facts = kFacts,
                                const RunState& start = {}) {
  RunSchedule schedule(resolved(settings), facts, start);
  FakeHost host(schedule, start.step);
  host.run();
  EXPECT_TRUE(schedule.outcome().has_value());
  EXPECT_LE(host.most_open, 2u);
  for (std::size_t i = 0; i < host.orders.size(); ++i) EXPECT_EQ(host.orders[i].id, i + 1);
  return host.texts();
}

TEST(RunScheduleTest, AFitTrainsValidatesAndSavesEveryEpoch) {
  EXPECT_THAT(played({.max_epochs = 2}), ElementsAre("train e0 b0 n10", "evaluate validate n3 e0", "checkpoint best",
                                                     "train e1 b0 n10", "evaluate validate n3 e1", "checkpoint final"));
}

TEST(RunScheduleTest, StepsDecideWhenToValidateAndSave) {
  EXPECT_THAT(played({.max_steps = 7,
                      .validate_every_steps = 4,
                      .checkpoint_every_steps = 3,
                      .checkpoint_after_validation = false}),
              ElementsAre("train e0 b0 n3", "checkpoint interval", "train e0 b3 n1", "evaluate validate n3 e0",
                          "train e0 b4 n2", "checkpoint interval", "train e0 b6 n1", "checkpoint final"));
}

TEST(RunScheduleTest, TheEndCanGoUnsaved) {
  EXPECT_THAT(played({.max_steps = 10, .checkpoint_after_validation = false, .checkpoint_at_end = false}),
              ElementsAre("train e0 b0 n10", "evaluate validate n3 e0"));
  EXPECT_THAT(played({.max_steps = 10, .checkpoint_at_end = false}),
              ElementsAre("train e0 b0 n10", "evaluate validate n3 e0", "checkpoint best"));
}

TEST(RunScheduleTest, LimitsAreRespected) {
  EXPECT_THAT(played({.max_epochs = 2, .limit_train_batches = 4, .limit_val_batches = 2, .checkpoint_at_end = false}),
              ElementsAre("train e0 b0 n4", "evaluate validate n2 e0", "checkpoint best", "train e1 b0 n4",
                          "evaluate validate n2 e1", "checkpoint validation"));
  EXPECT_THAT(played({.max_epochs = 1, .limit_val_batches = 0}), ElementsAre("train e0 b0 n10", "checkpoint final"));
  EXPECT_THAT(played({.max_epochs = 1, .limit_train_batches = 0, .limit_val_batches = 0}), ElementsAre());
}

TEST(RunScheduleTest, LongEpochsAreOrderedInPieces) {
  EXPECT_THAT(played({.max_epochs = 1, .accumulate_grad_batches = 3, .limit_val_batches = 0, .steps_per_order = 2}),
              ElementsAre("train e0 b0 n6", "train e0 b6 n4", "checkpoint final"));
}

TEST(RunScheduleTest, EvaluationCanComeFirstAndGoOverSeveralSplits) {
  EXPECT_THAT(played({.max_steps = 1,
                      .num_sanity_val_steps = 2,
                      .evaluate_splits = {"train", "validate"},
                      .evaluate_at_start = true,
                      .predict_at_end = true}),
              ElementsAre("evaluate validate n2 e0", "evaluate train n10 e0", "evaluate validate n3 e0",
                          "train e0 b0 n1", "checkpoint final", "predict predict n0 e0"));
}

TEST(RunScheduleTest, OtherModesDoOneThing) {
  EXPECT_THAT(played({.mode = "validate", .evaluate_splits = {"validate", "test"}}),
              ElementsAre("evaluate validate n3 e0", "evaluate test n2 e0"));
  EXPECT_THAT(played({.mode = "test", .limit_test_batches = 1}), ElementsAre("evaluate test n1 e0"));
  EXPECT_THAT(played({.mode = "predict"}), ElementsAre("predict test n2 e0"));
  EXPECT_THAT(played({.mode = "predict", .predict_split = ""}), ElementsAre("predict  n0 e0"));
}

TEST(RunScheduleTest, AFastRunDoesOneOfEverything) {
  EXPECT_THAT(played({.max_epochs = 99, .fast_dev_run = true}),
              ElementsAre("train e0 b0 n1", "evaluate validate n1 e0"));
}

TEST(RunScheduleTest, WithoutAWriterNothingIsSaved) {
  RunFacts facts = kFacts;
  facts.writes_checkpoints = false;
  EXPECT_THAT(
      played({.max_epochs = 1, .checkpoint_every_steps = 3}, facts),
      ElementsAre("train e0 b0 n3", "train e0 b3 n3", "train e0 b6 n3", "train e0 b9 n1", "evaluate validate n3 e0"));
}

TEST(RunScheduleTest, AResumedRunGoesOnWhereItWas) {
  RunState start{.resumed = true, .step = 13, .epoch = 1, .cursor = {1, 3}};
  EXPECT_THAT(played({.max_epochs = 2}, kFacts, start),
              ElementsAre("train e1 b3 n7", "evaluate validate n3 e1", "checkpoint final"));
  EXPECT_THAT(played({.max_steps = 13}, kFacts, start), ElementsAre()) << "it was saved where it is";
}

TEST(RunScheduleTest, AResumedRunRemembersItsMetrics) {
  RunState start{.resumed = true, .step = 10, .epoch = 0, .cursor = {1, 0}, .metrics = {{"loss", 0.5}}};
  RunSchedule schedule(resolved({.max_steps = 20, .checkpoint_at_end = false}), kFacts, start);
  FakeHost host(schedule, 10);
  host.run();
  EXPECT_EQ(host.texts().back(), "checkpoint validation") << "1.0 is no better than 0.5";
}

TEST(RunScheduleTest, OrdersTellEpochTotalAndAccumulation) {
  RunSchedule schedule(resolved({.max_steps = 6, .accumulate_grad_batches = 4}), kFacts, {});
  FakeHost host(schedule);
  host.run();
  EXPECT_EQ(host.step(), 6u);
  EXPECT_EQ(host.orders[0].micro_batches, 4u);
  EXPECT_EQ(host.orders[0].split, "train");
  for (const Order& order : host.orders) EXPECT_EQ(order.total_steps, 6u);
  EXPECT_EQ(host.orders.back().epoch, 1u);
  EXPECT_EQ(schedule.outcome()->reason, "max_steps = 6 reached");
}

TEST(RunScheduleTest, OneOrderIsAheadUnlessItDependsOnAResult) {
  RunSchedule schedule(resolved({.max_steps = 20, .validate_every_steps = 10, .steps_per_order = 5}), kFacts, {});
  FakeHost host(schedule);
  const auto open = [&] {
    std::vector<std::string> all;
    for (const Order& order : host.open) all.push_back(text_of(order));
    return all;
  };
  EXPECT_THAT(open(), ElementsAre("train e0 b0 n5", "train e0 b5 n5"));
  host.answer_one();
  EXPECT_THAT(open(), ElementsAre("train e0 b5 n5", "evaluate validate n3 e0"));
  host.answer_one();
  EXPECT_THAT(open(), ElementsAre("evaluate validate n3 e0")) << "the checkpoint carries its metrics";
  host.answer_one();
  EXPECT_THAT(open(), ElementsAre("checkpoint best", "train e1 b0 n5")) << "training does not wait for the disk";
}

TEST(RunScheduleTest, TrainingRunsOnPastAValidationThatDecidesNothing) {
  RunSchedule schedule(resolved({.max_epochs = 9, .checkpoint_after_validation = false}), kFacts, {});
  FakeHost host(schedule);
  host.answer_one();
  ASSERT_EQ(host.open.size(), 2u);
  EXPECT_EQ(host.open[1].kind, "train");
}

TEST(RunScheduleTest, CheckpointsCarryTheNewestMetricsOfEverySplit) {
  RunSchedule schedule(resolved({.max_epochs = 1, .evaluate_splits = {"train", "validate"}}), kFacts, {});
  FakeHost host(schedule);
  host.evaluate = [](const Order& order) {
    return std::vector<Scalar>{{"loss", order.split == "train" ? 0.25 : 0.75}};
  };
  host.run();
  const auto& metrics = host.orders.back().metrics;
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].name, "train/loss");
  EXPECT_EQ(metrics[0].value, 0.25);
  EXPECT_EQ(metrics[1].name, "loss");
  EXPECT_EQ(metrics[1].value, 0.75);
}

TEST(RunScheduleTest, EarlyStoppingEndsTheRunAndSavesIt) {
  RunSchedule schedule(resolved({.max_epochs = 50, .early_stopping_patience = 2}), kFacts, {});
  FakeHost host(schedule);
  std::vector<double> losses{3, 2, 2.5, 2.25};
  std::size_t next = 0;
  host.evaluate = [&](const Order&) { return std::vector<Scalar>{{"loss", losses.at(next++)}}; };
  host.run();
  EXPECT_EQ(next, 4u);
  EXPECT_EQ(host.step(), 40u);
  EXPECT_THAT(host.texts().back(), "checkpoint validation");
  EXPECT_EQ(schedule.outcome()->reason, "early stopping: 'loss' has not improved for 2 validations; best 2");
  EXPECT_TRUE(schedule.outcome()->success);
}

TEST(RunScheduleTest, EarlyStoppingWithoutItsMetricIsAnError) {
  RunSchedule schedule(resolved({.max_epochs = 5, .monitor = "acuracy", .early_stopping_patience = 1}), kFacts, {});
  FakeHost host(schedule);
  host.evaluate = [](const Order&) { return std::vector<Scalar>{{"loss", 1}, {"accuracy", 1}}; };
  EXPECT_THAT(
      [&] { host.run(); },
      ThrowsMessage<Error>(HasSubstr("early stopping watches 'acuracy', which split 'validate' does not have")));
}

TEST(RunScheduleTest, AStopOvertakesWhatIsOpenAndSaves) {
  RunSchedule schedule(resolved({.max_steps = 1000}), kFacts, {});
  FakeHost host(schedule);
  host.answer_one();
  schedule.stop("stopped by request");
  schedule.stop("a second time");
  host.take_orders();
  EXPECT_EQ(host.texts().back(), "stop stopped by request");
  EXPECT_EQ(host.open.size(), 1u) << "the host drops the others";
  host.answer_one();
  EXPECT_EQ(host.texts().back(), "checkpoint interrupted");
  EXPECT_FALSE(schedule.outcome().has_value());
  host.run();
  ASSERT_TRUE(schedule.outcome().has_value());
  EXPECT_EQ(schedule.outcome()->reason, "stopped by request");
  EXPECT_TRUE(schedule.outcome()->success);
}

TEST(RunScheduleTest, AStopRightAfterACheckpointSavesNothingTwice) {
  RunSchedule schedule(resolved({.max_epochs = 9}), kFacts, {});
  FakeHost host(schedule);
  for (int i = 0; i < 3; ++i) host.answer_one();  // Train, evaluate, checkpoint.
  EXPECT_EQ(host.orders[2].kind, "checkpoint");
  schedule.stop("enough");
  host.take_orders();
  host.run();
  EXPECT_EQ(host.texts().back(), "stop enough");
  EXPECT_EQ(schedule.outcome()->reason, "enough");
}

TEST(RunScheduleTest, AStopThatDropsTheFinalCheckpointOrdersItAgain) {
  RunSchedule schedule(resolved({.max_steps = 3, .limit_val_batches = 0}), kFacts, {});
  FakeHost host(schedule);
  host.answer_one();
  EXPECT_EQ(host.texts().back(), "checkpoint final");
  schedule.stop("enough", "final");
  host.take_orders();
  host.run();
  EXPECT_THAT(host.texts(), ElementsAre("train e0 b0 n3", "checkpoint final", "stop enough", "checkpoint final"));
  EXPECT_TRUE(schedule.outcome().has_value());
}

TEST(RunScheduleTest, AStopAfterTheLastOrderChangesNothing) {
  RunSchedule schedule(resolved({.max_steps = 3}), kFacts, {});
  FakeHost host(schedule);
  host.run();
  schedule.stop("too late");
  EXPECT_FALSE(schedule.next().has_value());
  EXPECT_EQ(schedule.outcome()->reason, "max_steps = 3 reached");
}

TEST(RunScheduleTest, AStopBeforeTheFirstStepLeavesNothingToSave) {
  RunSchedule schedule(resolved({.max_steps = 3}), kFacts, {});
  schedule.stop("at once");
  FakeHost host(schedule);
  host.run();
  EXPECT_THAT(host.texts(), ElementsAre("stop at once"));
  EXPECT_EQ(schedule.outcome()->reason, "at once");
}

TEST(RunScheduleTest, RequestsComeBetweenOrders) {
  RunSchedule schedule(resolved({.max_steps = 8, .limit_val_batches = 1, .steps_per_order = 2}), kFacts, {});
  FakeHost host(schedule);
  EXPECT_TRUE(schedule.add_checkpoint());
  EXPECT_TRUE(schedule.add_validation());
  host.run();
  EXPECT_THAT(host.texts(),
              ElementsAre("train e0 b0 n2", "train e0 b2 n2", "evaluate validate n1 e0", "checkpoint requested",
                          "train e0 b4 n2", "train e0 b6 n2", "checkpoint final"));
  EXPECT_FALSE(schedule.add_checkpoint()) << "the run is over";
  EXPECT_FALSE(schedule.add_validation());
}

TEST(RunScheduleTest, ARequestedValidationDoesNotWearOutPatience) {
  RunSchedule schedule(resolved({.max_epochs = 3, .early_stopping_patience = 1, .steps_per_order = 5}), kFacts, {});
  FakeHost host(schedule);
  double loss = 10;
  host.evaluate = [&](const Order& order) { return std::vector<Scalar>{{"loss", order.id == 3 ? 99 : --loss}}; };
  schedule.add_validation();
  host.run();
  EXPECT_EQ(host.orders[2].kind, "evaluate");
  EXPECT_EQ(schedule.outcome()->reason, "max_epochs = 3 reached");
}

TEST(RunScheduleTest, TheRunEndsOnlyWhenEveryCheckpointIsOnDisk) {
  RunSchedule schedule(resolved({.max_steps = 3, .limit_val_batches = 0}), kFacts, {});
  std::vector<Order> orders;
  const auto take = [&] {
    while (const auto order = schedule.next()) orders.push_back(*order);
  };
  take();
  schedule.order_done({.order = 1, .kind = "train", .step = 3});
  take();
  ASSERT_EQ(orders.back().kind, "checkpoint");
  schedule.order_done({.order = 2, .kind = "checkpoint", .step = 3});
  EXPECT_FALSE(schedule.outcome().has_value());
  schedule.checkpoint_done({.order = 2, .step = 3});
  EXPECT_TRUE(schedule.outcome()->success);
}

TEST(RunScheduleTest, ACheckpointMayBeOnDiskBeforeTheHostAnswers) {
  RunSchedule schedule(resolved({.max_steps = 3, .limit_val_batches = 0}), kFacts, {});
  schedule.next();
  schedule.order_done({.order = 1, .kind = "train", .step = 3});
  schedule.next();
  schedule.checkpoint_done({.order = 2, .step = 3});
  EXPECT_FALSE(schedule.outcome().has_value());
  schedule.order_done({.order = 2, .kind = "checkpoint", .step = 3});
  EXPECT_TRUE(schedule.outcome().has_value());
}

TEST(RunScheduleTest, OnlyAFailureOfTheLastCheckpointFailsTheRun) {
  RunSchedule schedule(resolved({.max_epochs = 2}), kFacts, {});
  FakeHost host(schedule);
  host.write_error = "disk full";
  for (int i = 0; i < 3; ++i) host.answer_one();
  EXPECT_EQ(host.orders[2].kind, "checkpoint");
  host.write_error = "";
  host.run();
  EXPECT_TRUE(schedule.outcome()->success);

  RunSchedule failing(resolved({.max_epochs = 1}), kFacts, {});
  FakeHost unlucky(failing);
  unlucky.write_error = "disk full";
  unlucky.run();
  EXPECT_FALSE(failing.outcome()->success);
  EXPECT_EQ(failing.outcome()->reason, "max_epochs = 1 reached, but the last checkpoint was not written: disk full");
}

TEST(RunScheduleTest, WhatDoesNotFitTheDatasetIsRefused) {
  const auto make = [](const RunSettings& settings, const RunFacts& facts = kFacts) {
    RunSchedule(resolved(settings), facts, {});
  };
  EXPECT_THAT([&] { make({.max_steps = 1, .evaluate_splits = {"validat"}}); },
              ThrowsMessage<Error>(HasSubstr("the dataset has no split 'validat'; did you mean 'validate'?")));
  EXPECT_THAT(
      [&] {
        make({.mode = "test"}, {.batches = {{"train", 1}}});
      },
      ThrowsMessage<Error>(HasSubstr("the dataset has no split 'test'")));
  EXPECT_THAT(
      [&] {
        make({.max_steps = 1}, {.batches = {{"validate", 1}}});
      },
      ThrowsMessage<Error>(HasSubstr("the dataset has no split 'train'")));
  EXPECT_THAT(
      [&] {
        make({.max_steps = 1}, {.batches = {{"train", 0}}});
      },
      ThrowsMessage<Error>(HasSubstr("the split 'train' has 0 batches")));
  EXPECT_THAT(
      [&] {
        make({.mode = "validate"}, {.batches = {{"validate", 0}}});
      },
      ThrowsMessage<Error>(HasSubstr("mode 'validate' has nothing to evaluate")));
}

TEST(RunScheduleTest, AFitWithoutAValidationSplitGoesWithout) {
  EXPECT_THAT(played({.max_epochs = 1}, {.batches = {{"train", 10}}}), ElementsAre("train e0 b0 n10"));
}

TEST(RunScheduleTest, AnAnswerToNoOrderIsABug) {
  RunSchedule schedule(resolved({.max_steps = 1}), kFacts, {});
  EXPECT_THAT([&] { schedule.order_done({.order = 7, .kind = "train"}); },
              ThrowsMessage<Error>(HasSubstr("order 7 (train) was answered, but it is not open")));
}

TEST(RunScheduleTest, DescribesThePlan) {
  EXPECT_EQ(RunSchedule(resolved({.max_epochs = 3}), kFacts, {}).describe(),
            "fit: 30 steps, 10 per epoch; validate: 3 batches");
  EXPECT_EQ(RunSchedule(resolved({.max_time_s = 3}), kFacts, {.step = 12, .cursor = {1, 2}}).describe(),
            "fit: unbounded steps, 10 per epoch, from step 12 of epoch 1; validate: 3 batches");
}

}  // namespace
}  // namespace trainyard::manager
