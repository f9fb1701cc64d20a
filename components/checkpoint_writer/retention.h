// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

/// The facts about a checkpoint on disk that determine whether it is kept.
struct StoredCheckpoint {
  std::string path;
  std::uint64_t step = 0;
  std::optional<double> value;  ///< The value of the monitored metric, if it was measured and finite.
};

/// Which checkpoints are kept: the newest `last` ones and the best `best` ones, or all checkpoints if `last` is 0. So
/// the newest checkpoint is always kept.
struct RetentionRule {
  std::size_t last = 2;
  std::size_t best = 1;
  bool smaller_is_better = true;
};

/// Returns the index of the checkpoint with the best value; `rule` says whether smaller values are better. If several
/// checkpoints have the best value, returns the index of the earliest. Returns nothing if no checkpoint has a value.
std::optional<std::size_t> best_of(std::span<const StoredCheckpoint> checkpoints, const RetentionRule& rule);

/// Returns the indices of the checkpoints to delete, in ascending order. `checkpoints` must be in the order in which
/// they were written.
std::vector<std::size_t> to_delete(std::span<const StoredCheckpoint> checkpoints, const RetentionRule& rule);

}  // namespace trainyard
