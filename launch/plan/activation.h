// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard::launch {

/// A connection over which one component sends messages to another. The components are given by their indices.
struct Link {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  /// True if the topic begins with '/' in the plugin's declaration. Such topics carry orders and reports, not the
  /// stream of data.
  bool run_wide = false;
};

/// Returns the indices of all components, 0 to `components` - 1, in the order in which they become active: as far as
/// possible, receivers before senders, and sources of data last. The links of a training run form a cycle, because
/// orders and reports flow against the data. Where a cycle makes this order impossible, run-wide links are disregarded.
/// If the remaining links still form a cycle, the next component is the one whose senders outnumber its receivers by
/// the widest margin. If several components qualify, the component with the lowest index is next.
std::vector<std::uint32_t> activation_order(std::size_t components, const std::vector<Link>& links);

}  // namespace trainyard::launch
