// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/batch.h"
#include "messages/scalar.h"
#include "messages/setting.h"

namespace trainyard::checkpoints {

/// The position of a run, stored in `run.json`. A run needs only this, the weights and the optimizer's state to
/// continue.
struct RunRecord {
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;
  LoaderCursor cursor;
  std::vector<std::uint8_t> rng;   ///< The state of the accelerator host's random generator; hexadecimal in the file.
  std::vector<Scalar> metrics;     ///< The newest validation metrics.
  std::vector<Scalar> host_state;  ///< The accelerator host's own numbers, such as its loss scale.
  std::vector<Setting> settings;   ///< The parameters that were changed during the run.
  std::string reason;              ///< Why the checkpoint was saved: "interval", "best", "interrupted", ...
  std::string model;               ///< The name of the model plugin.
  std::string optimizer;           ///< The name of the update rule; empty without optimizer state.
  std::map<std::string, double> hyperparameters;
  std::string time;  ///< In UTC, as in ISO 8601.
};

/// Returns the text of run.json. Numbers are read back exactly; those that are not finite are stored as strings.
std::string format_run_record(const RunRecord& record);

/// Parses the text of run.json. Throws kCorrupt with a text that begins with `where`.
RunRecord parse_run_record(const std::string& text, const std::string& where);

/// Returns the current time, such as "2024-05-31T12:00:00Z".
std::string utc_now();

}  // namespace trainyard::checkpoints
