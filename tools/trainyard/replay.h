// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/trainyard/planning.h"

namespace trainyard::tools {

/// Describes how to compute a step of a past run again. The replay is a launch with the arguments of the past run; it
/// resumes from the newest checkpoint before the step, and ends after the step. Checkpoints contain the whole state, so
/// the results of the step should be bit-identical.
struct Replay {
  std::uint64_t step = 0;
  LaunchArguments launch;
  std::string working_directory;  ///< The folder to which relative paths refer.
  std::string directory;          ///< The output directory of the past run.
  std::string output;             ///< The output directory of the replay, which does not exist yet.
  std::string checkpoint;         ///< The path of the checkpoint; empty if the replay begins at step 0.
};

/// Two values of one metric of the replayed step: the value that the past run recorded, and the value that the replay
/// computed.
struct ReplayedMetric {
  std::string name;
  double recorded = 0;
  double computed = 0;

  /// Returns true if the two values are bit-identical, or if both are NaN.
  bool same() const;
};

/// Prepares the replay of `step` of the run whose output directory is `directory`. The results are written to `output`,
/// or to a new folder `replay-<step>` in `directory` if `output` is empty. Throws kNotFound if there is no such run, if
/// the run has no launch record, or if it has not reached the step. Throws kInvalidArgument if the launch file has been
/// changed or removed since the past run, or if `output` exists.
Replay prepare_replay(const std::string& directory, std::uint64_t step, const std::string& output);

/// Returns the loss, the gradient norm, the learning rate and the loss scale of the step. Each is left out unless both
/// the past run and the replay have written it. The list is empty if the past run wrote no metrics for the step. Throws
/// kNotFound if the replay has not computed the step.
std::vector<ReplayedMetric> compare(const Replay& replay);

/// Returns the loss that the replay computed, or an empty optional if it has not computed the step.
std::optional<double> replayed_loss(const Replay& replay);

}  // namespace trainyard::tools
