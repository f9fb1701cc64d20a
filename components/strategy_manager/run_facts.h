// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/dataset_info.h"
#include "messages/saved_state.h"

namespace trainyard::manager {

/// What the other components have announced before the run begins. It is fixed from then on.
struct RunFacts {
  /// The epochs of training; without batches if there is no such split.
  SplitInfo train;
  /// The number of batches of an evaluation or prediction, indexed by split: the smallest one that any rank has
  /// announced.
  std::map<std::string, std::uint64_t> batches;
  std::vector<SavedState> data;  ///< What checkpoints say about the data.
  std::uint32_t ranks = 1;       ///< The number of accelerator hosts that will answer.
  bool writes_checkpoints = false;
};

/// Adds what a rank has announced of a split. Ranks step together, so the rank that has the fewest batches ends
/// everybody's epoch.
void add_split(RunFacts& facts, const SplitInfo& split);

/// Returns the number of batches of a split that an evaluation uses, under a limit (-1 if there is none). Throws
/// kNotFound with the known splits.
std::uint64_t batches_of(const RunFacts& facts, const std::string& split, std::int64_t limit);

}  // namespace trainyard::manager
