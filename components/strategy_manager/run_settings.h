// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/words.h"

namespace trainyard::manager {

/// The kind of a run. The names are those of Lightning: kFit trains and validates, the others only validate, test or
/// predict.
enum class RunMode : std::uint8_t { kFit, kValidate, kTest, kPredict };
constexpr auto words_of(RunMode) { return words("mode of a run", "fit", "validate", "test", "predict"); }

enum class Difference : std::uint8_t;

/// The parameters of the strategy manager, as plain data. A step is one update of the optimizer, and a batch is one
/// micro-batch. Unless stated otherwise, a limit of -1 means no limit, and an interval (`validate_every_...`,
/// `checkpoint_every_...`) of 0 means never.
struct RunSettings {
  RunMode mode = RunMode::kFit;
  std::int64_t max_steps = -1;
  std::int64_t max_epochs = -1;
  double max_time_s = 0;  ///< 0 means no limit.
  /// The step after which training ends early; 0 means off. Unlike max_steps, it does not change the planned length of
  /// the run, on which learning-rate schedules depend.
  std::int64_t stop_at_step = 0;
  std::int64_t accumulate_grad_batches = 1;
  std::int64_t limit_train_batches = -1;  ///< The limit per epoch.
  std::int64_t limit_val_batches = -1;    ///< The limit per split; 0 means no validation.
  std::int64_t limit_test_batches = -1;
  std::int64_t limit_predict_batches = -1;
  /// If not 0, every epoch consists only of this many batches, which are the same in every epoch.
  std::int64_t overfit_batches = 0;
  /// True to use only one batch each for training, validation and so on, and to save no checkpoints.
  bool fast_dev_run = false;

  std::int64_t validate_every_steps = 0;
  std::int64_t validate_every_epochs = -1;  ///< -1 means every epoch, unless validate_every_steps is set.
  std::int64_t num_sanity_val_steps = 0;
  std::vector<std::string> evaluate_splits{"validate"};
  bool evaluate_at_start = false;
  bool predict_at_end = false;
  /// The split for mode predict; if empty, the model generates output without input.
  std::string predict_split = "test";

  std::int64_t checkpoint_every_steps = 0;
  std::int64_t checkpoint_every_epochs = 0;
  bool checkpoint_after_validation = true;
  bool checkpoint_at_end = true;

  std::string monitor = "loss";
  bool monitor_max = false;                  ///< True if a larger value is better.
  std::int64_t early_stopping_patience = 0;  ///< Stop after this many validations without improvement; 0 means never.
  double early_stopping_min_delta = 0;

  /// The permitted differences between the data of the checkpoint and the data of this run, if it resumes.
  std::vector<Difference> may_differ;

  /// The maximum number of steps in one order. Requests for checkpoints and validations take effect between orders.
  std::int64_t steps_per_order = 32;
};

/// Applies fast_dev_run, overfit_batches and the defaults that depend on other settings, and returns the resulting
/// settings. Throws kInvalidArgument if no setting limits the run, or if settings contradict each other.
RunSettings resolved(RunSettings settings);

}  // namespace trainyard::manager
