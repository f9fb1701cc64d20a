// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/run_agenda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/strategy_manager/fake_host.h"
#include "messages/error.h"

namespace trainyard::manager {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A run with 10 training batches per epoch, 3 validation batches and 2 test batches.
const RunFacts kFacts{
    .train = {"train", 10, 10}, .batches = {{"train", 10}, {"validate", 3}, {"test", 2}}, .writes_checkpoints = true};

std::vector<std::string> played(const RunSettings& settings, const RunFacts& facts = kFacts,
                                const RunState& start = {}) {
  RunAgenda agenda(resolved(settings), facts, start);
  FakeHost host(agenda, start.step);
  host.run();
  EXPECT_TRUE(agenda.outcome().has_value());
  EXPECT_LE(host.most_open, 2u);
  for (std::size_t i = 0; i < host.orders.size(); ++i) EXPECT_EQ(host.orders[i].id, i + 1);
  return host.texts();
}

TEST(RunAgendaTest, AFitTrainsValidatesAndSavesEveryEpoch) {
  EXPECT_THAT(played({.max_epochs = 2}), ElementsAre("train e0 b0 n10", "evaluate validate n3 e0", "checkpoint best",
                                                     "train e1 b0 n10", "evaluate validate n3 e1", "checkpoint final"));
}

TEST(RunAgendaTest, StepsDecideWhenToValidateAndSave) {
  EXPECT_THAT(played({.max_steps = 7,
                      .validate_every_steps = 4,
                      .checkpoint_every_steps = 3,
                      .checkpoint_after_validation = false}),
              ElementsAre("train e0 b0 n3", "checkpoint interval", "train e0 b3 n1", "evaluate validate n3 e0",
                          "train e0 b4 n2", "checkpoint interval", "train e0 b6 n1", "checkpoint final"));
}

TEST(RunAgendaTest, TheEndCanGoUnsaved) {
  EXPECT_THAT(played({.max_steps = 10, .checkpoint_after_validation = false, .checkpoint_at_end = false}),
              ElementsAre("train e0 b0 n10", "evaluate validate n3 e0"));
  EXPECT_THAT(played({.max_steps = 10, .checkpoint_at_end = false}),
              ElementsAre("train e0 b0 n10", "evaluate validate n3 e0", "checkpoint best"));
}

TEST(RunAgendaTest, LimitsAreRespected) {
  EXPECT_THAT(played({.max_epochs = 2, .limit_train_batches = 4, .limit_val_batches = 2, .checkpoint_at_end = false}),
              ElementsAre("train e0 b0 n4", "evaluate validate n2 e0", "checkpoint best", "train e1 b0 n4",
                          "evaluate validate n2 e1", "checkpoint validation"));
  EXPECT_THAT(played({.max_epochs = 1, .limit_val_batches = 0}), ElementsAre("train e0 b0 n10", "checkpoint final"));
  EXPECT_THAT(played({.max_epochs = 1, .limit_train_batches = 0, .limit_val_batches = 0}), ElementsAre());
}

TEST(RunAgendaTest, LongEpochsAreOrderedInPieces) {
  EXPECT_THAT(played({.max_epochs = 1, .accumulate_grad_batches = 3, .limit_val_batches = 0, .steps_per_order = 2}),
              ElementsAre("train e0 b0 n6", "train e0 b6 n4", "checkpoint final"));
}

TEST(RunAgendaTest, EvaluationCanComeFirstAndGoOverSeveralSplits) {
  EXPECT_THAT(played({.max_steps = 1,
                      .num_sanity_val_steps = 2,
                      .evaluate_splits = {"train", "validate"},
                      .evaluate_at_start = true,
                      .predict_at_end = true}),
              ElementsAre("evaluate validate n2 e0", "evaluate train n10 e0", "evaluate validate n3 e0",
                          "train e0 b0 n1", "checkpoint final", "generate"));
}

TEST(RunAgendaTest, OtherModesDoOneThing) {
  EXPECT_THAT(played({.mode = RunMode::kValidate, .evaluate_splits = {"validate", "test"}}),
              ElementsAre("evaluate validate n3 e0", "evaluate test n2 e0"));
  EXPECT_THAT(played({.mode = RunMode::kTest, .limit_test_batches = 1}), ElementsAre("evaluate test n1 e0"));
  EXPECT_THAT(played({.mode = RunMode::kPredict}), ElementsAre("predict test n2 e0"));
  EXPECT_THAT(played({.mode = RunMode::kPredict, .predict_split = ""}), ElementsAre("generate"));
}

TEST(RunAgendaTest, APredictionOfTheTrainingSamplesUsesTheShortLastBatchToo) {
  const RunFacts facts{.train = {.name = "train", .samples = 2, .batches = 0}, .batches = {{"train", 1}}};
  EXPECT_THAT(played({.mode = RunMode::kPredict, .predict_split = "train"}, facts), ElementsAre("predict train n1 e0"));
}

TEST(RunAgendaTest, AModeWithNothingToDoIsRefused) {
  const auto make = [](const RunSettings& settings, const RunFacts& facts) {
    RunAgenda(resolved(settings), facts, {});
  };
  EXPECT_THAT(
      [&] {
        make({.mode = RunMode::kPredict}, {.batches = {{"test", 0}}});
      },
      ThrowsMessage<Error>(HasSubstr("mode 'predict' has nothing to do: there is no sample of the split 'test'")));
  EXPECT_THAT(
      [&] { make({.mode = RunMode::kTest, .limit_test_batches = 0}, kFacts); },
      ThrowsMessage<Error>(HasSubstr("mode 'test' has nothing to do: limit_test_batches = 0 of the split 'test'")));
}

TEST(RunAgendaTest, ACheckpointCarriesWhatIsKnownOfDataAndEarlyStopping) {
  RunFacts facts = kFacts;
  facts.data = {{.owner = "data", .values = R"({"seed":1})"}};
  RunAgenda agenda(resolved({.max_epochs = 1}), facts, {});
  FakeHost host(agenda);
  host.run();
  const Order& checkpoint = host.orders.back();
  ASSERT_EQ(checkpoint.kind, OrderKind::kCheckpoint);
  ASSERT_EQ(checkpoint.states.size(), 2u);
  EXPECT_EQ(checkpoint.states[0].owner, "early_stopping");
  EXPECT_EQ(checkpoint.states[1].owner, "data");
  EXPECT_TRUE(host.orders.front().states.empty());
}

TEST(RunAgendaTest, AFastRunDoesOneOfEverything) {
  EXPECT_THAT(played({.max_epochs = 99, .fast_dev_run = true}),
              ElementsAre("train e0 b0 n1", "evaluate validate n1 e0"));
}

TEST(RunAgendaTest, AFastRunSavesNothingOnRequestEither) {
  RunAgenda fast(resolved({.max_epochs = 99, .fast_dev_run = true}), kFacts, {});
  EXPECT_FALSE(fast.saves());
  EXPECT_FALSE(fast.add_checkpoint());
  RunAgenda whole(resolved({.max_epochs = 99}), kFacts, {});
  EXPECT_TRUE(whole.saves());
  EXPECT_TRUE(whole.add_checkpoint());
}

TEST(RunAgendaTest, WithoutAWriterNothingIsSaved) {
  RunFacts facts = kFacts;
  facts.writes_checkpoints = false;
  EXPECT_THAT(
      played({.max_epochs = 1, .checkpoint_every_steps = 3}, facts),
      ElementsAre("train e0 b0 n3", "train e0 b3 n3", "train e0 b6 n3", "train e0 b9 n1", "evaluate validate n3 e0"));
}

TEST(RunAgendaTest, AResumedRunGoesOnWhereItWas) {
  RunState start{.resumed = true, .step = 13, .epoch = 1, .cursor = {1, 3}};
  EXPECT_THAT(played({.max_epochs = 2}, kFacts, start),
              ElementsAre("train e1 b3 n7", "evaluate validate n3 e1", "checkpoint final"));
  EXPECT_THAT(played({.max_steps = 13}, kFacts, start), ElementsAre()) << "it was saved where it is";
}

TEST(RunAgendaTest, AResumedRunRemembersItsMetrics) {
  RunState start{.resumed = true, .step = 10, .epoch = 0, .cursor = {1, 0}, .metrics = {{"loss", 0.5}}};
  RunAgenda agenda(resolved({.max_steps = 20, .checkpoint_at_end = false}), kFacts, start);
  FakeHost host(agenda, 10);
  host.run();
  EXPECT_EQ(host.texts().back(), "checkpoint validation") << "1.0 is no better than 0.5";
}

TEST(RunAgendaTest, OrdersTellEpochTotalAndAccumulation) {
  RunAgenda agenda(resolved({.max_steps = 6, .accumulate_grad_batches = 4}), kFacts, {});
  FakeHost host(agenda);
  host.run();
  EXPECT_EQ(host.step(), 6u);
  EXPECT_EQ(host.orders[0].micro_batches, 4u);
  EXPECT_EQ(host.orders[0].split, "train");
  for (const Order& order : host.orders) EXPECT_EQ(order.total_steps, 6u);
  EXPECT_EQ(host.orders.back().epoch, 1u);
  EXPECT_EQ(agenda.outcome()->reason, "max_steps = 6 reached");
}

TEST(RunAgendaTest, OneOrderIsAheadUnlessItDependsOnAResult) {
  RunAgenda agenda(resolved({.max_steps = 20, .validate_every_steps = 10, .steps_per_order = 5}), kFacts, {});
  FakeHost host(agenda);
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

TEST(RunAgendaTest, TrainingRunsOnPastAValidationThatDecidesNothing) {
  RunAgenda agenda(resolved({.max_epochs = 9, .checkpoint_after_validation = false}), kFacts, {});
  FakeHost host(agenda);
  host.answer_one();
  ASSERT_EQ(host.open.size(), 2u);
  EXPECT_EQ(host.open[1].kind, OrderKind::kTrain);
}

TEST(RunAgendaTest, CheckpointsCarryTheNewestMetricsOfEverySplit) {
  RunAgenda agenda(resolved({.max_epochs = 1, .evaluate_splits = {"train", "validate"}}), kFacts, {});
  FakeHost host(agenda);
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

TEST(RunAgendaTest, EarlyStoppingEndsTheRunAndSavesIt) {
  RunAgenda agenda(resolved({.max_epochs = 50, .early_stopping_patience = 2}), kFacts, {});
  FakeHost host(agenda);
  std::vector<double> losses{3, 2, 2.5, 2.25};
  std::size_t next = 0;
  host.evaluate = [&](const Order&) { return std::vector<Scalar>{{"loss", losses.at(next++)}}; };
  host.run();
  EXPECT_EQ(next, 4u);
  EXPECT_EQ(host.step(), 40u);
  EXPECT_THAT(host.texts().back(), "checkpoint validation");
  EXPECT_EQ(agenda.outcome()->reason, "early stopping: 'loss' has not improved for 2 validations; best 2");
  EXPECT_TRUE(agenda.outcome()->success);
}

TEST(RunAgendaTest, EarlyStoppingWithoutItsMetricIsAnError) {
  RunAgenda agenda(resolved({.max_epochs = 5, .monitor = "acuracy", .early_stopping_patience = 1}), kFacts, {});
  FakeHost host(agenda);
  host.evaluate = [](const Order&) { return std::vector<Scalar>{{"loss", 1}, {"accuracy", 1}}; };
  EXPECT_THAT(
      [&] { host.run(); },
      ThrowsMessage<Error>(HasSubstr("early stopping watches 'acuracy', which split 'validate' does not have")));
}

TEST(RunAgendaTest, AStopOvertakesWhatIsOpenAndSaves) {
  RunAgenda agenda(resolved({.max_steps = 1000}), kFacts, {});
  FakeHost host(agenda);
  host.answer_one();
  agenda.stop("stopped by request");
  agenda.stop("a second time");
  host.take_orders();
  EXPECT_EQ(host.texts().back(), "stop stopped by request");
  EXPECT_EQ(host.open.size(), 1u) << "the host drops the others";
  host.answer_one();
  EXPECT_EQ(host.texts().back(), "checkpoint interrupted");
  EXPECT_FALSE(agenda.outcome().has_value());
  host.run();
  ASSERT_TRUE(agenda.outcome().has_value());
  EXPECT_EQ(agenda.outcome()->reason, "stopped by request after step 10");
  EXPECT_TRUE(agenda.outcome()->success);
}

TEST(RunAgendaTest, APauseAfterTheStopDoesNotHoldBackTheLastCheckpoint) {
  RunAgenda agenda(resolved({.max_steps = 1000}), kFacts, {});
  FakeHost host(agenda);
  host.answer_one();
  agenda.stop("enough");
  host.take_orders();
  agenda.pause();
  host.take_orders();
  EXPECT_EQ(host.texts().back(), "stop enough");
  host.run();
  EXPECT_EQ(host.texts().back(), "checkpoint interrupted");
  EXPECT_TRUE(agenda.resting());
}

TEST(RunAgendaTest, AStopRightAfterACheckpointSavesNothingTwice) {
  RunAgenda agenda(resolved({.max_epochs = 9}), kFacts, {});
  FakeHost host(agenda);
  for (int i = 0; i < 3; ++i) host.answer_one();  // Orders to train, to evaluate and to save a checkpoint.
  EXPECT_EQ(host.orders[2].kind, OrderKind::kCheckpoint);
  agenda.stop("enough");
  host.take_orders();
  host.run();
  EXPECT_EQ(host.texts().back(), "stop enough");
  EXPECT_EQ(agenda.outcome()->reason, "enough after step 10");
}

TEST(RunAgendaTest, AStopThatDropsTheFinalCheckpointOrdersItAgain) {
  RunAgenda agenda(resolved({.max_steps = 3, .limit_val_batches = 0}), kFacts, {});
  FakeHost host(agenda);
  host.answer_one();
  EXPECT_EQ(host.texts().back(), "checkpoint final");
  agenda.stop("enough", CheckpointReason::kFinal);
  host.take_orders();
  host.run();
  EXPECT_THAT(host.texts(), ElementsAre("train e0 b0 n3", "checkpoint final", "stop enough", "checkpoint final"));
  EXPECT_TRUE(agenda.outcome().has_value());
}

TEST(RunAgendaTest, AStopAfterTheLastOrderChangesNothing) {
  RunAgenda agenda(resolved({.max_steps = 3}), kFacts, {});
  FakeHost host(agenda);
  host.run();
  agenda.stop("too late");
  EXPECT_FALSE(agenda.next().has_value());
  EXPECT_EQ(agenda.outcome()->reason, "max_steps = 3 reached");
}

TEST(RunAgendaTest, AStopBeforeTheFirstStepLeavesNothingToSave) {
  RunAgenda agenda(resolved({.max_steps = 3}), kFacts, {});
  agenda.stop("at once");
  FakeHost host(agenda);
  host.run();
  EXPECT_THAT(host.texts(), ElementsAre("stop at once"));
  EXPECT_EQ(agenda.outcome()->reason, "at once");
}

TEST(RunAgendaTest, RequestsComeBetweenOrders) {
  RunAgenda agenda(resolved({.max_steps = 8, .limit_val_batches = 1, .steps_per_order = 2}), kFacts, {});
  FakeHost host(agenda);
  EXPECT_TRUE(agenda.add_checkpoint());
  EXPECT_TRUE(agenda.add_validation());
  host.run();
  EXPECT_THAT(host.texts(),
              ElementsAre("train e0 b0 n2", "train e0 b2 n2", "evaluate validate n1 e0", "checkpoint requested",
                          "train e0 b4 n2", "train e0 b6 n2", "checkpoint final"));
  EXPECT_FALSE(agenda.add_checkpoint()) << "the run is over";
  EXPECT_FALSE(agenda.add_validation());
}

TEST(RunAgendaTest, ARequestedValidationDoesNotWearOutPatience) {
  RunAgenda agenda(resolved({.max_epochs = 3, .early_stopping_patience = 1, .steps_per_order = 5}), kFacts, {});
  FakeHost host(agenda);
  double loss = 10;
  host.evaluate = [&](const Order& order) { return std::vector<Scalar>{{"loss", order.id == 3 ? 99 : --loss}}; };
  agenda.add_validation();
  host.run();
  EXPECT_EQ(host.orders[2].kind, OrderKind::kEvaluate);
  EXPECT_EQ(agenda.outcome()->reason, "max_epochs = 3 reached");
}

TEST(RunAgendaTest, TheRunEndsOnlyWhenEveryCheckpointIsOnDisk) {
  RunAgenda agenda(resolved({.max_steps = 3, .limit_val_batches = 0}), kFacts, {});
  std::vector<Order> orders;
  const auto take = [&] {
    while (const auto order = agenda.next()) orders.push_back(*order);
  };
  take();
  agenda.order_done({.order = 1, .kind = OrderKind::kTrain, .step = 3});
  take();
  ASSERT_EQ(orders.back().kind, OrderKind::kCheckpoint);
  agenda.order_done({.order = 2, .kind = OrderKind::kCheckpoint, .step = 3});
  EXPECT_FALSE(agenda.outcome().has_value());
  agenda.checkpoint_done({.order = 2, .step = 3});
  EXPECT_TRUE(agenda.outcome()->success);
}

TEST(RunAgendaTest, ACheckpointMayBeOnDiskBeforeTheHostAnswers) {
  RunAgenda agenda(resolved({.max_steps = 3, .limit_val_batches = 0}), kFacts, {});
  agenda.next();
  agenda.order_done({.order = 1, .kind = OrderKind::kTrain, .step = 3});
  agenda.next();
  agenda.checkpoint_done({.order = 2, .step = 3});
  EXPECT_FALSE(agenda.outcome().has_value());
  agenda.order_done({.order = 2, .kind = OrderKind::kCheckpoint, .step = 3});
  EXPECT_TRUE(agenda.outcome().has_value());
}

TEST(RunAgendaTest, OnlyAFailureOfTheLastCheckpointFailsTheRun) {
  RunAgenda agenda(resolved({.max_epochs = 2}), kFacts, {});
  FakeHost host(agenda);
  host.write_error = "disk full";
  for (int i = 0; i < 3; ++i) host.answer_one();
  EXPECT_EQ(host.orders[2].kind, OrderKind::kCheckpoint);
  host.write_error = "";
  host.run();
  EXPECT_TRUE(agenda.outcome()->success);

  RunAgenda failing(resolved({.max_epochs = 1}), kFacts, {});
  FakeHost unlucky(failing);
  unlucky.write_error = "disk full";
  unlucky.run();
  EXPECT_FALSE(failing.outcome()->success);
  EXPECT_EQ(failing.outcome()->reason, "max_epochs = 1 reached, but the last checkpoint was not written: disk full");
}

TEST(RunAgendaTest, WhatDoesNotFitTheDatasetIsRefused) {
  const auto make = [](const RunSettings& settings, const RunFacts& facts = kFacts) {
    RunAgenda(resolved(settings), facts, {});
  };
  EXPECT_THAT([&] { make({.max_steps = 1, .evaluate_splits = {"validat"}}); },
              ThrowsMessage<Error>(HasSubstr("the dataset has no split 'validat'; did you mean 'validate'?")));
  EXPECT_THAT(
      [&] {
        make({.mode = RunMode::kTest}, {.train = {"train", 1, 1}, .batches = {{"train", 1}}});
      },
      ThrowsMessage<Error>(HasSubstr("the dataset has no split 'test'")));
  EXPECT_THAT(
      [&] {
        make({.max_steps = 1}, {.batches = {{"validate", 1}}});
      },
      ThrowsMessage<Error>(HasSubstr("the dataset has no split 'train'")));
  EXPECT_THAT(
      [&] {
        make({.max_steps = 1}, {.train = {"train", 0, 0}, .batches = {{"train", 0}}});
      },
      ThrowsMessage<Error>(HasSubstr("the split 'train' has 0 batches")));
  EXPECT_THAT(
      [&] {
        make({.mode = RunMode::kValidate}, {.batches = {{"validate", 0}}});
      },
      ThrowsMessage<Error>(HasSubstr("mode 'validate' has nothing to evaluate")));
}

TEST(RunAgendaTest, AFitWithoutAValidationSplitGoesWithout) {
  EXPECT_THAT(played({.max_epochs = 1}, {.train = {"train", 10, 10}, .batches = {{"train", 10}}}),
              ElementsAre("train e0 b0 n10"));
}

TEST(RunAgendaTest, AnAnswerToNoOrderIsABug) {
  RunAgenda agenda(resolved({.max_steps = 1}), kFacts, {});
  EXPECT_THAT([&] { agenda.order_done({.order = 7, .kind = OrderKind::kTrain}); },
              ThrowsMessage<Error>(HasSubstr("order 7 (train) was answered, but it is not open")));
}

TEST(RunAgendaTest, DescribesThePlan) {
  EXPECT_EQ(RunAgenda(resolved({.max_epochs = 3}), kFacts, {}).describe(),
            "fit: 30 steps, 10 per epoch; validate: 3 batches");
  EXPECT_EQ(RunAgenda(resolved({.max_time_s = 3}), kFacts, {.step = 12, .cursor = {1, 2}}).describe(),
            "fit: unbounded steps, 10 per epoch, from step 12 of epoch 1; validate: 3 batches");
}

}  // namespace
}  // namespace trainyard::manager
