// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/dataset_info.h"
#include "messages/saved_state.h"

namespace trainyard::manager {

/// The facts that the other components announce before the run begins. They do not change during the run.
struct RunFacts {
  /// The split for training; it has no batches if the dataset has no such split.
  SplitInfo train;
  /// The number of batches of an evaluation or prediction, indexed by split: the smallest number that any rank has
  /// announced.
  std::map<std::string, std::uint64_t> batches;
  std::vector<SavedState> data;  ///< The facts about the data that checkpoints contain.
  std::uint32_t ranks = 1;       ///< The number of accelerator hosts that will answer.
  bool writes_checkpoints = false;
};

/// Adds a rank's announcement of a split. All ranks make their steps together, so the rank with the fewest batches ends
/// the epoch of all ranks.
void add_split(RunFacts& facts, const SplitInfo& split);

/// Returns the number of batches of a split that an evaluation uses, which is at most `limit`; a `limit` of -1 means no
/// limit. Throws kNotFound, with the nearest known name, if there is no such split.
std::uint64_t batches_of(const RunFacts& facts, const std::string& split, std::int64_t limit);

}  // namespace trainyard::manager
