// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/trainyard/planning.h"

namespace trainyard::tools {

/// The recipe for computing a step of a past run again: a launch with the arguments of the run, which resumes from the
/// newest checkpoint before the step and ends after the step. Because checkpoints contain all state, the step yields
/// the same bits.
struct Replay {
  std::uint64_t step = 0;
  LaunchArguments launch;
  std::string working_directory;  ///< The folder to which relative paths in the launch file refer.
  std::string directory;          ///< The output directory of the past run.
  std::string output;             ///< The output directory of the replay, which does not exist yet.
  std::string checkpoint;         ///< The path of the checkpoint; empty if the replay begins at step 0.
};

/// The value of one metric of the step, as the run recorded it and as the replay computed it.
struct ReplayedMetric {
  std::string name;
  double recorded = 0;
  double computed = 0;

  /// Returns true if both values have the same bits, or both are NaN.
  bool same() const;
};

/// Prepares the replay of `step` of the run whose output directory is `directory`. The results are written to `output`,
/// or to a new folder `replay-<step>` in `directory` if `output` is empty. Throws kNotFound if there is no such run, if
/// the run kept no record of its launch, or if it has not come to the step. Throws kInvalidArgument if the launch file
/// has changed since, or if `output` exists.
Replay prepare_replay(const std::string& directory, std::uint64_t step, const std::string& output);

/// Returns the metrics that the run and the replay both have of the step: the loss first, without those that depend on
/// time. If the run did not record the step, the list is empty. Throws kNotFound if the replay has not computed the
/// step.
std::vector<ReplayedMetric> compare(const Replay& replay);

/// Returns the loss that the replay computed, or nothing if it has not computed the step.
std::optional<double> replayed_loss(const Replay& replay);

}  // namespace trainyard::tools
