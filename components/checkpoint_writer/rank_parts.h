#pragma once

#include <cstdint>
#include <vector>

#include "components/checkpoint_writer/state_layout.h"

namespace trainyard {

inline constexpr const char* kParameters = "parameters";
inline constexpr const char* kGradients = "gradients";

/// Null if there is none of that name.
const Tensor* find_block(const std::vector<ArenaBlock>& blocks, const std::string& name);

/// Which bytes of the parameters each rank has.
struct RankParts {
  std::uint64_t whole = 0;            ///< Bytes of all parameters.
  std::uint64_t element_bytes = 1;    ///< Of one number of them.
  std::vector<std::uint64_t> begins;  ///< By rank.
  bool replicated = false;            ///< Every rank has all of it.
};

/// Throws kShapeMismatch, naming the first rank that does not fit, unless the parts follow each other from the first
/// byte to the last, or each is the whole.
RankParts parts_of(const std::vector<RankState>& ranks);

}  // namespace trainyard
