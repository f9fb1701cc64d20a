// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/words.h"

namespace trainyard::manager {

/// The kind of a run, with the name that it has in Lightning.
enum class RunMode : std::uint8_t { kFit, kValidate, kTest, kPredict };
constexpr auto words_of(RunMode) { return words("mode of a run", "fit", "validate", "test", "predict"); }

enum class Difference : std::uint8_t;

/// The user's settings of a run. A step is one step of the optimizer, and a batch is one micro-batch; -1 means no
/// limit.
struct RunSettings {
  RunMode mode = RunMode::kFit;
  std::int64_t max_steps = -1;
  std::int64_t max_epochs = -1;
  double max_time_s = 0;  ///< 0 means no limit.
  /// The step after which training ends early, as if it had been stopped; 0 means off. Unlike max_steps, it does not
  /// change the length of the run, so learning-rate schedules stay the same.
  std::int64_t stop_at_step = 0;
  std::int64_t accumulate_grad_batches = 1;
  std::int64_t limit_train_batches = -1;  ///< The limit for each epoch.
  std::int64_t limit_val_batches = -1;    ///< The limit for each split; 0 means no validation.
  std::int64_t limit_test_batches = -1;
  std::int64_t limit_predict_batches = -1;
  std::int64_t overfit_batches = 0;  ///< Every epoch consists of only this many batches, the first ones; 0 means off.
  bool fast_dev_run = false;         ///< True to train, validate and so on with one batch each, without checkpoints.

  std::int64_t validate_every_steps = 0;
  std::int64_t validate_every_epochs = -1;  ///< -1 means every epoch, unless validate_every_steps is given.
  std::int64_t num_sanity_val_steps = 0;
  std::vector<std::string> evaluate_splits{"validate"};
  bool evaluate_at_start = false;
  bool predict_at_end = false;
  std::string predict_split = "test";  ///< The split for mode predict; if empty, the model generates without an input.

  std::int64_t checkpoint_every_steps = 0;
  std::int64_t checkpoint_every_epochs = 0;
  bool checkpoint_after_validation = true;
  bool checkpoint_at_end = true;

  std::string monitor = "loss";
  bool monitor_max = false;                  ///< True if a larger value is better.
  std::int64_t early_stopping_patience = 0;  ///< The number of validations without improvement; 0 means off.
  double early_stopping_min_delta = 0;

  /// The permitted differences between the data of a resumed checkpoint and this run's data.
  std::vector<Difference> may_differ;

  /// The largest number of steps in one order. Requests take effect between orders.
  std::int64_t steps_per_order = 32;
};

/// Returns the settings after applying fast_dev_run, overfit_batches and the defaults that depend on other settings.
/// Throws kInvalidArgument for a run without a limit and for settings that contradict each other.
RunSettings resolved(RunSettings settings);

}  // namespace trainyard::manager
