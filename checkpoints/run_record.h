// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/batch.h"
#include "messages/saved_state.h"
#include "messages/scalar.h"
#include "messages/setting.h"

namespace trainyard::checkpoints {

/// The record of a run in a checkpoint, stored in `run.json`. It contains the position, the settings and the state of
/// the run, but no tensor data.
struct RunRecord {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;  ///< The number of samples that all ranks together have trained on.
  LoaderCursor cursor;        ///< The position in the training data where a resumed run continues.
  /// The number of batches used in the epoch, which format 1 records instead of LoaderCursor::samples; 0 in the current
  /// format.
  std::uint64_t cursor_batches = 0;
  /// The number of steps that were skipped because a loss or gradient was not finite.
  std::uint64_t skipped_steps = 0;
  std::uint32_t ranks = 0;        ///< The number of ranks of the run; 0 in format 1, which does not record it.
  std::vector<Scalar> metrics;    ///< The newest validation metrics.
  std::vector<Setting> settings;  ///< The parameters that were changed during the run.
  /// The states saved by parts of the run, such as the random generators and the strategy. Of each tensor, only the
  /// name is stored here; its data is in `state.safetensors`.
  std::vector<SavedState> states;
  std::string reason;     ///< Why the checkpoint was saved: "interval", "best", "interrupted", ...
  std::string model;      ///< The name of the plugin that defines the model.
  std::string optimizer;  ///< The update rule, such as "adamw"; empty if no optimizer announced its state.
  std::map<std::string, double> hyperparameters;  ///< The numeric hyperparameters of the optimizer.
  std::string time;                               ///< When the checkpoint was saved, in UTC: "2024-05-31T12:00:00Z".
};

/// Returns the text of run.json, from which parse_run_record() restores all numbers exactly. Numbers that are not
/// finite are stored as strings.
std::string format_run_record(const RunRecord& record);

/// Parses the text of run.json, in the current format or in format 1. If the text is malformed or a required field is
/// missing, throws kCorrupt with a text that begins with `where`.
RunRecord parse_run_record(const std::string& text, const std::string& where);

/// Returns the name of a state's tensor in `state.safetensors`: "strategy/diloco/velocity" for a state that is the same
/// on all ranks, or "rank1/strategy/diloco/velocity" for the state of rank 1.
std::string state_tensor_name(const SavedState& state, const std::string& tensor);

/// Returns the current time in UTC, such as "2024-05-31T12:00:00Z".
std::string utc_now();

}  // namespace trainyard::checkpoints
