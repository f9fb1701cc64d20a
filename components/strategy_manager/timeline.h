// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "components/strategy_manager/run_settings.h"
#include "messages/batch.h"
#include "messages/dataset_info.h"
#include "messages/run_state.h"

namespace trainyard::manager {

/// The position of training in steps, epochs and batches. It determines how far training can continue before a
/// validation or a checkpoint is due. It counts the steps that have been ordered, which may not be done yet.
class Timeline {
 public:
  /// `train` describes the split to train on, before the limits in `settings` are applied; it has no batches if the run
  /// does not train. `start` is the position at which the run begins.
  Timeline(const RunSettings& settings, const SplitInfo& train, const RunState& start);

  /// A stretch of training for one order. It lies within one epoch, and does not extend beyond the next point at which
  /// a validation or a checkpoint can be due.
  struct Stretch {
    std::uint64_t batches = 0;
    std::uint64_t steps = 0;
    std::uint64_t epoch = 0;
    LoaderCursor cursor;  ///< The position in the training data at which the stretch begins.
  };

  /// Returns the next stretch, and advances the position to its end. Must not be called if over() is true.
  Stretch advance();

  /// Returns true if a limit on steps or epochs has been reached, or if there are no training batches.
  bool over() const;
  /// Returns the reason why over() is true, such as "max_steps = 100 reached". Must be called only if it is true.
  std::string why_over() const;

  /// These functions return true if a validation or a checkpoint is due after the stretch that advance() has returned
  /// most recently. Before the first call of advance(), they return false.
  bool validation_due() const;
  bool checkpoint_due() const;

  std::uint64_t step() const { return step_; }
  std::uint64_t epoch() const { return epoch_; }                  ///< The epoch of the next stretch.
  std::uint64_t trained_epoch() const { return trained_epoch_; }  ///< The epoch of the most recent stretch.
  std::uint64_t steps_per_epoch() const { return steps_for(epoch_batches_); }
  std::uint64_t total_steps() const { return total_steps_; }  ///< The number of steps of the whole run; 0 if unknown.

 private:
  // Returns the number of batches that remain in an epoch after `used` of its samples.
  std::uint64_t batches_from(std::uint64_t used) const;
  // Returns the number of samples in a batch of all ranks together, or 1 if the data loader's cursor counts batches
  // instead of samples.
  std::uint64_t batch_samples() const { return std::max<std::uint64_t>(1, train_.batch_samples); }
  // Returns true if training has reached `stop_at_step`.
  bool stopped_early() const;
  void begin_epoch(std::uint64_t epoch);
  // Returns the number of steps for `batches` batches, rounded up because the last step of an epoch can have fewer
  // batches.
  std::uint64_t steps_for(std::uint64_t batches) const;
  std::uint64_t steps_of_all_epochs() const;
  // Returns the maximum number of steps that the next stretch may have.
  std::uint64_t steps_until_due() const;
  bool due(std::int64_t every_steps, std::int64_t every_epochs) const;

  RunSettings settings_;
  SplitInfo train_;
  std::uint64_t epoch_batches_;  ///< The number of batches of a whole epoch, with limits applied.
  std::uint64_t step_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t used_ = 0;  ///< The number of samples of this epoch that have been ordered.
  std::uint64_t left_ = 0;  ///< The number of batches of this epoch that have not been ordered.
  std::uint64_t trained_epoch_ = 0;
  std::uint64_t total_steps_ = 0;
  bool moved_ = false;  ///< True if advance() has been called.
};

}  // namespace trainyard::manager
