// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/timeline.h"

#include <gtest/gtest.h>

#include <set>

#include "messages/error.h"

namespace trainyard::manager {
namespace {

/// Returns a split with this number of batches, each with one sample.
SplitInfo epochs(std::uint64_t batches) {
  return {.name = "train", .samples = batches, .batches = batches, .batch_samples = 1};
}

/// A reference that counts steps in the same way as a simple training loop.
struct Loop {
  std::uint64_t steps = 0;
  std::uint64_t batches = 0;
  std::set<std::uint64_t> validations;  ///< The steps after which a validation is due.
  std::set<std::uint64_t> checkpoints;

  Loop(const RunSettings& s, std::uint64_t epoch_batches) {
    for (std::int64_t epoch = 0; s.max_epochs < 0 || epoch < s.max_epochs; ++epoch) {
      std::int64_t collected = 0;
      for (std::uint64_t batch = 0; batch < epoch_batches; ++batch) {
        if (s.max_steps >= 0 && steps == std::uint64_t(s.max_steps)) return;
        ++batches;
        const bool last = batch + 1 == epoch_batches;
        if (++collected < s.accumulate_grad_batches && !last) continue;
        collected = 0;
        ++steps;
        const auto due = [&](std::int64_t every_steps, std::int64_t every_epochs) {
          return (every_steps > 0 && steps % every_steps == 0) ||
                 (last && every_epochs > 0 && (epoch + 1) % every_epochs == 0);
        };
        if (due(s.validate_every_steps, s.validate_every_epochs)) validations.insert(steps);
        if (due(s.checkpoint_every_steps, s.checkpoint_every_epochs)) checkpoints.insert(steps);
      }
    }
  }
};

void expect_same_as_loop(const RunSettings& settings, std::uint64_t epoch_batches) {
  SCOPED_TRACE(fmt::format("max_steps {}, max_epochs {}, accumulate {}, order {}, epoch {}", settings.max_steps,
                           settings.max_epochs, settings.accumulate_grad_batches, settings.steps_per_order,
                           epoch_batches));
  const Loop loop(settings, epoch_batches);
  Timeline timeline(settings, epochs(epoch_batches), {});
  EXPECT_EQ(timeline.total_steps(), loop.steps);
  std::uint64_t batches = 0;
  std::set<std::uint64_t> validations, checkpoints;
  while (!timeline.over()) {
    const auto stretch = timeline.advance();
    ASSERT_GT(stretch.batches, 0u);
    ASSERT_LE(stretch.steps, std::uint64_t(settings.steps_per_order));
    ASSERT_EQ(stretch.cursor.epoch * epoch_batches + stretch.cursor.samples, batches) << "a gap in the stream";
    ASSERT_LE(stretch.cursor.samples + stretch.batches, epoch_batches) << "across the end of an epoch";
    batches += stretch.batches;
    if (timeline.validation_due()) validations.insert(timeline.step());
    if (timeline.checkpoint_due()) checkpoints.insert(timeline.step());
  }
  EXPECT_EQ(timeline.step(), loop.steps);
  EXPECT_EQ(batches, loop.batches);
  EXPECT_EQ(validations, loop.validations);
  EXPECT_EQ(checkpoints, loop.checkpoints);
}

TEST(TimelineTest, DoesWhatAPlainTrainingLoopDoes) {
  for (const std::int64_t max_steps : {-1, 1, 7, 20}) {
    for (const std::int64_t max_epochs : {-1, 1, 3}) {
      if (max_steps < 0 && max_epochs < 0) continue;
      for (const std::int64_t accumulate : {1, 2, 3, 50}) {
        for (const std::int64_t order : {1, 4, 1000}) {
          for (const std::uint64_t epoch : {1u, 5u, 12u}) {
            for (const std::int64_t every : {0, 1, 3}) {
              expect_same_as_loop({.max_steps = max_steps,
                                   .max_epochs = max_epochs,
                                   .accumulate_grad_batches = accumulate,
                                   .validate_every_steps = every,
                                   .validate_every_epochs = every == 1 ? 0 : 2,
                                   .checkpoint_every_steps = every * 2,
                                   .checkpoint_every_epochs = every == 0 ? 1 : 0,
                                   .steps_per_order = order},
                                  epoch);
            }
          }
        }
      }
    }
  }
}

TEST(TimelineTest, AResumedRunOrdersExactlyWhatWasLeft) {
  const RunSettings settings{.max_epochs = 3, .accumulate_grad_batches = 2, .steps_per_order = 4};
  Timeline whole(settings, epochs(11), {});
  std::uint64_t batches = 0;
  while (!whole.over()) {
    RunState state{.resumed = true, .step = whole.step()};
    state.cursor = {batches / 11, batches % 11};
    Timeline rest(settings, epochs(11), state);
    EXPECT_EQ(rest.total_steps(), 18u);
    Timeline copy = whole;
    while (!copy.over()) {
      const auto wanted = copy.advance(), got = rest.advance();
      EXPECT_EQ(got.cursor.epoch, wanted.cursor.epoch);
      EXPECT_EQ(got.cursor.samples, wanted.cursor.samples);
      EXPECT_EQ(got.batches, wanted.batches);
    }
    EXPECT_TRUE(rest.over());
    batches += whole.advance().batches;
  }
}

TEST(TimelineTest, ARunThatIsResumedAfterSkippedStepsEndsWhereItWouldHave) {
  Timeline whole({.max_steps = 10, .steps_per_order = 6}, epochs(100), {});
  whole.advance();
  // Two of the six steps were skipped, so the optimizer has made four updates.
  RunState state{.resumed = true, .step = 4, .cursor = {0, 6}, .skipped_steps = 2};
  Timeline rest({.max_steps = 10, .steps_per_order = 6}, epochs(100), state);
  EXPECT_EQ(rest.total_steps(), whole.total_steps());
  EXPECT_EQ(rest.advance().batches, whole.advance().batches);
  EXPECT_TRUE(rest.over() && whole.over());
}

TEST(TimelineTest, AResumeAtTheLimitOfAnEpochBeginsTheNext) {
  RunState state{.resumed = true, .step = 4};
  state.cursor = {0, 4};  // The epoch has ten batches, with limit_train_batches = 4.
  Timeline timeline({.max_epochs = 2, .limit_train_batches = 4}, epochs(10), state);
  EXPECT_FALSE(timeline.validation_due()) << "it was done before the checkpoint";
  const auto stretch = timeline.advance();
  EXPECT_EQ(stretch.cursor.epoch, 1u);
  EXPECT_EQ(stretch.cursor.samples, 0u);
  EXPECT_TRUE(timeline.over());
  EXPECT_EQ(timeline.total_steps(), 8u);
}

/// Returns a split of 1000 samples. `batch_samples` is the number of samples in a batch of all ranks together.
SplitInfo epochs_of(std::uint64_t batch_samples, bool short_last) {
  SplitInfo train{.name = "train", .samples = 1000, .batch_samples = batch_samples, .short_last = short_last};
  train.batches = (1000 + (short_last ? batch_samples - 1 : 0)) / batch_samples;
  return train;
}

TEST(TimelineTest, WithAnotherBatchSizeTheRestOfTheEpochIsTheSamplesThatAreLeft) {
  for (const auto& [size, short_last, batches] :
       {std::tuple{10u, true, 50u}, {20u, true, 25u}, {30u, true, 17u}, {30u, false, 16u}, {5u, true, 100u}}) {
    SCOPED_TRACE(size);
    RunState state{.resumed = true, .step = 50, .cursor = {3, 500}};
    Timeline timeline({.max_epochs = 5, .steps_per_order = 1000}, epochs_of(size, short_last), state);
    const std::uint64_t whole = epochs_of(size, short_last).batches;
    EXPECT_EQ(timeline.total_steps(), 50 + batches + whole);
    const auto rest = timeline.advance();
    EXPECT_EQ(rest.cursor.epoch, 3u);
    EXPECT_EQ(rest.cursor.samples, 500u);
    EXPECT_EQ(rest.batches, batches);
    const auto next = timeline.advance();
    EXPECT_EQ(next.cursor.epoch, 4u);
    EXPECT_EQ(next.cursor.samples, 0u);
    EXPECT_EQ(next.batches, whole);
  }
}

TEST(TimelineTest, ARestThatFillsNoBatchBeginsTheNextEpoch) {
  const RunState state{.resumed = true, .step = 99, .cursor = {0, 990}};
  Timeline timeline({.max_epochs = 2}, epochs_of(20, false), state);
  EXPECT_EQ(timeline.advance().cursor.epoch, 1u);
}

TEST(TimelineTest, OverfittingRepeatsTheSameBatches) {
  const RunSettings settings{
      .max_steps = 7, .accumulate_grad_batches = 2, .limit_train_batches = 4, .overfit_batches = 4};
  Timeline timeline(settings, epochs(10), {});
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const auto stretch = timeline.advance();
    EXPECT_EQ(stretch.epoch, epoch);
    EXPECT_EQ(stretch.cursor.epoch, 0u);
    EXPECT_EQ(stretch.cursor.samples, 0u);
  }
  Timeline resumed(settings, epochs(10), {.resumed = true, .step = 5});
  const auto stretch = resumed.advance();
  EXPECT_EQ(stretch.epoch, 2u);
  EXPECT_EQ(stretch.cursor.samples, 2u);
}

TEST(TimelineTest, WithoutABoundOnStepsTheTotalIsUnknown) {
  const Timeline timeline({.max_time_s = 10}, epochs(100), {});
  EXPECT_EQ(timeline.total_steps(), 0u);
  EXPECT_FALSE(timeline.over());
}

TEST(TimelineTest, StoppingEarlyDoesNotChangeTheLengthOfTheRun) {
  RunSettings settings{.max_steps = 100, .stop_at_step = 37};
  settings.validate_every_steps = 10;
  Timeline timeline(settings, epochs(8), {});
  std::set<std::uint64_t> validations;
  while (!timeline.over()) {
    timeline.advance();
    if (timeline.validation_due()) validations.insert(timeline.step());
  }
  EXPECT_EQ(timeline.step(), 37u);
  EXPECT_EQ(timeline.total_steps(), 100u) << "schedules must be those of the whole run";
  EXPECT_EQ(validations, (std::set<std::uint64_t>{10, 20, 30}));
  EXPECT_EQ(timeline.why_over(), "stop_at_step = 37 reached");
  EXPECT_TRUE(Timeline(settings, epochs(8), {.step = 50}).over()) << "a resumed run that is already beyond it";
}

TEST(TimelineTest, SaysWhyItIsOver) {
  EXPECT_EQ(Timeline({.max_steps = 3}, epochs(5), {.step = 3}).why_over(), "max_steps = 3 reached");
  EXPECT_EQ(Timeline({.max_epochs = 0}, epochs(5), {}).why_over(), "max_epochs = 0 reached");
  EXPECT_TRUE(Timeline({.max_epochs = 1}, epochs(0), {}).over());
}

}  // namespace
}  // namespace trainyard::manager
