// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace trainyard::manager {

/// What the other components have announced before the run begins. It is fixed from then on.
struct RunFacts {
  /// The number of batches per epoch, indexed by split: the smallest one that any rank has announced.
  std::map<std::string, std::uint64_t> batches;
  std::uint32_t ranks = 1;  ///< The number of accelerator hosts that will answer.
  bool writes_checkpoints = false;
};

/// Returns the number of batches of a split to use, under a limit (-1 if there is none). Throws kNotFound with the
/// known splits.
std::uint64_t batches_of(const RunFacts& facts, const std::string& split, std::int64_t limit);

}  // namespace trainyard::manager
