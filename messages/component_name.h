// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace trainyard {

/// Returns a component's name without the prefix of its rank, as the launch file spells it: "eval/probe" for the name
/// "rank1/eval/probe" and rank 1. A name that does not begin with the prefix of `rank` is returned unchanged.
inline std::string without_rank(const std::string& name, std::uint32_t rank) {
  const std::string prefix = fmt::format("rank{}/", rank);
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

}  // namespace trainyard
