// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace trainyard {

/// Returns a component's name as the launch file spells it: without the prefix "rankN/" that the name has in a run in
/// which every rank has such a component. For "rank1/eval/probe" and rank 1, this is "eval/probe". A name that does not
/// begin with the prefix of `rank` is returned unchanged.
inline std::string without_rank(const std::string& name, std::uint32_t rank) {
  const std::string prefix = fmt::format("rank{}/", rank);
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

}  // namespace trainyard
