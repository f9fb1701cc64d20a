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

/// The rule that decides which checkpoints are kept: the newest `last` and the best `best`, or all if `last` is 0. The
/// newest checkpoint is always kept. The functions below are pure functions of a list, so deletion can be tested
/// without a disk.
struct RetentionRule {
  std::size_t last = 2;
  std::size_t best = 1;
  bool smaller_is_better = true;
};

/// Returns the index of the best checkpoint, or of the earliest one if several are equally good; empty if no checkpoint
/// has a value.
std::optional<std::size_t> best_of(std::span<const StoredCheckpoint> checkpoints, const RetentionRule& rule);

/// Returns the indices of the checkpoints to delete. `checkpoints` are in the order in which they were written.
std::vector<std::size_t> to_delete(std::span<const StoredCheckpoint> checkpoints, const RetentionRule& rule);

}  // namespace trainyard
