#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

/// A checkpoint on disk, as far as keeping it is concerned.
struct StoredCheckpoint {
  std::string path;
  std::uint64_t step = 0;
  std::optional<double> value;  ///< Of the monitored metric, if it was measured and finite.
};

/// Which checkpoints are kept: the newest `last` and the best `best`; all if `last` is 0. The newest always is. Pure
/// functions of a list: what is deleted can be tested without a disk.
struct RetentionRule {
  std::size_t last = 2;
  std::size_t best = 1;
  bool smaller_is_better = true;
};

/// Index of the best one; among equals the earliest. Nothing if none was measured.
std::optional<std::size_t> best_of(std::span<const StoredCheckpoint> checkpoints, const RetentionRule& rule);

/// Indexes of those to delete, given in the order in which they were written.
std::vector<std::size_t> to_delete(std::span<const StoredCheckpoint> checkpoints, const RetentionRule& rule);

}  // namespace trainyard
