// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace trainyard {

/// Returns the name that the launch file gives to a component: "eval/probe" for the component "rank1/eval/probe" of
/// rank 1. A component that does not exist for each rank has the same name in both places.
inline std::string without_rank(const std::string& name, std::uint32_t rank) {
  const std::string prefix = fmt::format("rank{}/", rank);
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

}  // namespace trainyard
