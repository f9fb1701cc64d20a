// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

/// The facts about a checkpoint on disk that decide whether it is kept.
struct StoredCheckpoint {
  std::string path;
  std::uint64_t step = 0;
  std::optional<double> value;  ///< The value of the monitored metric, if it was measured and finite.
};

/// The rule by which checkpoints are kept: the newest `last` and the best `best` checkpoints, or all checkpoints if
/// `last` is 0. The newest checkpoint is always kept.
struct RetentionRule {
  std::size_t last = 2;
  std::size_t best = 1;
  bool smaller_is_better = true;
};

/// Returns the index of the best checkpoint, and of several equal ones the earliest. Returns nothing if no checkpoint
/// has a value.
std::optional<std::size_t> best_of(std::span<const StoredCheckpoint> checkpoints, const RetentionRule& rule);

/// Returns the indices of the checkpoints to delete. `checkpoints` are in the order in which they were written.
std::vector<std::size_t> to_delete(std::span<const StoredCheckpoint> checkpoints, const RetentionRule& rule);

}  // namespace trainyard
