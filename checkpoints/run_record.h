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

/// The position and the state of a run, stored in `run.json`. To continue, a run needs only this record, the tensors of
/// its states, the weights and the optimizer's state.
struct RunRecord {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;  ///< The number of samples that all ranks together have trained on.
  LoaderCursor cursor;
  std::uint64_t cursor_batches = 0;  ///< In format 1, instead of LoaderCursor::samples: the batches used in the epoch.
  std::uint64_t skipped_steps = 0;   ///< The number of steps that were skipped because gradients were not finite.
  std::uint32_t ranks = 0;           ///< The number of ranks of the run; 0 in format 1, which does not record it.
  std::vector<Scalar> metrics;       ///< The newest validation metrics.
  std::vector<Setting> settings;     ///< The parameters that were changed during the run.
  /// The state of every part of the run that has state. For tensors, only the names are stored here; the data is in
  /// `state.safetensors`.
  std::vector<SavedState> states;
  std::string reason;     ///< Why the checkpoint was saved: "interval", "best", "interrupted", ...
  std::string model;      ///< The name of the model plugin.
  std::string optimizer;  ///< The name of the update rule; empty if no optimizer state was saved.
  std::map<std::string, double> hyperparameters;
  std::string time;  ///< When the checkpoint was saved, in UTC: "2024-05-31T12:00:00Z".
};

/// Returns the text of run.json. Numbers read back exactly; numbers that are not finite are stored as strings.
std::string format_run_record(const RunRecord& record);

/// Parses the text of run.json in the current format or in format 1. Throws kCorrupt with a text that begins with
/// `where`.
RunRecord parse_run_record(const std::string& text, const std::string& where);

/// Returns the name of a state's tensor in `state.safetensors`: "strategy/diloco/velocity", or "rank1/..." if the state
/// belongs to a rank.
std::string state_tensor_name(const SavedState& state, const std::string& tensor);

/// Returns the current time, such as "2024-05-31T12:00:00Z".
std::string utc_now();

}  // namespace trainyard::checkpoints
