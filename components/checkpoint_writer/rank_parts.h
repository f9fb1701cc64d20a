// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "components/checkpoint_writer/state_layout.h"

namespace trainyard {

inline constexpr const char* kParameters = "parameters";
inline constexpr const char* kGradients = "gradients";

/// Returns the tensor of the block called `name`, or null if there is none.
const Tensor* find_block(const std::vector<ArenaBlock>& blocks, const std::string& name);

/// How the flat block of all parameters is divided among the ranks.
struct RankParts {
  std::uint64_t whole = 0;            ///< The size of all parameters in bytes.
  std::uint64_t element_bytes = 1;    ///< The size of one element of the parameters, in bytes.
  std::vector<std::uint64_t> begins;  ///< The byte at which each rank's part begins, indexed by rank.
  bool replicated = false;            ///< True if every rank has all parameters.
};

/// Returns how the parameters are divided. Either the parts of the ranks must be consecutive and complete, or every
/// rank must have all parameters. Otherwise throws kShapeMismatch, naming the first rank that does not fit.
RankParts parts_of(const std::vector<RankState>& ranks);

}  // namespace trainyard
