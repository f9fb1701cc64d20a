// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/dataset_info.h"
#include "messages/saved_state.h"

namespace trainyard::manager {

/// The facts that the other components have announced before the run begins. They do not change afterwards.
struct RunFacts {
  /// The split to train on; it has no batches if there is no such split.
  SplitInfo train;
  /// The number of batches of an evaluation or prediction, indexed by split: the smallest number that any rank has
  /// announced.
  std::map<std::string, std::uint64_t> batches;
  std::vector<SavedState> data;  ///< The description of the data for checkpoints (data_facts.h).
  std::uint32_t ranks = 1;       ///< The number of accelerator hosts that will answer.
  bool writes_checkpoints = false;
};

/// Adds the description of a split that one rank has announced. Ranks step together, so the rank with the fewest
/// batches determines the number of batches.
void add_split(RunFacts& facts, const SplitInfo& split);

/// Returns the number of batches of a split that an evaluation uses, which is at most `limit`; a `limit` of -1 means no
/// limit. Throws kNotFound, with the nearest known name, if there is no such split.
std::uint64_t batches_of(const RunFacts& facts, const std::string& split, std::int64_t limit);

}  // namespace trainyard::manager
