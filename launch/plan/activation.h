// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard::launch {

/// Says that one component sends to another.
struct Link {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  bool run_wide = false;  ///< True for a topic that was declared absolute: orders and reports, not the stream of data.
};

/// Returns the order in which components become active: receivers before those that send to them, and sources of data
/// last. Training is a ring, because orders go back to where the data comes from, so run-wide links are disregarded
/// first. In a ring of data, the component that receives most and sends least is activated first; among equals, the one
/// with the lower index.
std::vector<std::uint32_t> activation_order(std::size_t components, const std::vector<Link>& links);

}  // namespace trainyard::launch
