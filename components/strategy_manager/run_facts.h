#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace trainyard::manager {

/// What the other components have said before the run begins. Fixed from then on.
struct RunFacts {
  std::map<std::string, std::uint64_t> batches;  ///< Per epoch, by split: the smallest number that any rank told.
  std::uint32_t ranks = 1;                       ///< Accelerator hosts that will answer.
  bool writes_checkpoints = false;
};

/// How many batches of a split to use, under a limit (-1 = none). Throws kNotFound with the known splits.
std::uint64_t batches_of(const RunFacts& facts, const std::string& split, std::int64_t limit);

}  // namespace trainyard::manager
