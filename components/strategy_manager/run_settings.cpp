// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/run_settings.h"

#include "messages/error.h"

namespace trainyard::manager {
namespace {

/// Checks settings that depend on each other. The parameters have already been checked one by one.
void check(const RunSettings& settings) {
  if (settings.mode != RunMode::kFit) return;
  if (settings.max_steps < 0 && settings.max_epochs < 0 && settings.max_time_s <= 0 && settings.stop_at_step <= 0) {
    throw Error(Code::kInvalidArgument,
                "the run has no end: give max_steps, max_epochs or max_time_s; max_steps = -1, max_epochs = -1 and "
                "max_time_s = {} were given",
                settings.max_time_s);
  }
  const bool validates = settings.validate_every_steps > 0 || settings.validate_every_epochs > 0;
  if (settings.early_stopping_patience > 0 && (!validates || settings.limit_val_batches == 0)) {
    throw Error(Code::kInvalidArgument,
                "early_stopping_patience = {} needs validation; validate_every_steps = {}, validate_every_epochs = {} "
                "and limit_val_batches = {} were given",
                settings.early_stopping_patience, settings.validate_every_steps, settings.validate_every_epochs,
                settings.limit_val_batches);
  }
  if (settings.overfit_batches > 0 && settings.limit_train_batches >= 0 &&
      settings.limit_train_batches != settings.overfit_batches) {
    throw Error(Code::kInvalidArgument, "overfit_batches = {} and limit_train_batches = {} say different things",
                settings.overfit_batches, settings.limit_train_batches);
  }
}

/// Makes the run use one batch for everything, so that errors are found before a long run. Overrides other settings.
void make_fast(RunSettings& settings) {
  settings.max_steps = 1;
  settings.max_epochs = 1;
  settings.max_time_s = 0;
  settings.limit_train_batches = settings.limit_val_batches = 1;
  settings.limit_test_batches = settings.limit_predict_batches = 1;
  settings.accumulate_grad_batches = 1;
  settings.overfit_batches = 0;
  settings.num_sanity_val_steps = 0;
  settings.validate_every_steps = 0;
  settings.validate_every_epochs = 1;
  settings.evaluate_at_start = false;
  settings.early_stopping_patience = 0;
  settings.checkpoint_every_steps = settings.checkpoint_every_epochs = 0;
  settings.checkpoint_after_validation = settings.checkpoint_at_end = false;
}

}  // namespace

// The order matters: fast_dev_run overrides settings, then the defaults are applied, and then the settings are checked.
RunSettings resolved(RunSettings settings) {
  if (settings.fast_dev_run) make_fast(settings);
  if (settings.validate_every_epochs < 0) settings.validate_every_epochs = settings.validate_every_steps > 0 ? 0 : 1;
  check(settings);
  if (settings.overfit_batches > 0) settings.limit_train_batches = settings.overfit_batches;
  return settings;
}

}  // namespace trainyard::manager
