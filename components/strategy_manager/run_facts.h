// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/dataset_info.h"
#include "messages/saved_state.h"

namespace trainyard::manager {

/// What the strategy manager has learnt about the run from the other components before the run begins. It does not
/// change afterwards.
struct RunFacts {
  /// The split `train`; it has no batches if the dataset has no such split.
  SplitInfo train;
  /// For each split, by name, the number of batches of an evaluation or prediction: the smallest number that any rank
  /// has announced.
  std::map<std::string, std::uint64_t> batches;
  std::vector<SavedState> data;  ///< The description of the data that checkpoints contain (data_facts.h).
  std::uint32_t ranks = 1;       ///< The number of ranks, all of which answer each order.
  bool writes_checkpoints = false;
};

/// Adds the description of a split that one rank has announced. All ranks take part in every batch, so the smallest
/// number of batches of any rank is used.
void add_split(RunFacts& facts, const SplitInfo& split);

/// Returns the number of batches that an evaluation of a split uses, which is at most `limit`; -1 means no limit.
/// Throws kNotFound, suggesting a similar name, if there is no such split.
std::uint64_t batches_of(const RunFacts& facts, const std::string& split, std::int64_t limit);

}  // namespace trainyard::manager
