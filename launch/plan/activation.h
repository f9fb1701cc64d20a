#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard::launch {

/// That one component sends to another.
struct Link {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  bool run_wide = false;  ///< On a topic that was declared absolute: orders and reports, not the stream of data.
};

/// The order in which components become active: receivers before those who send to them, sources of data last. Training
/// is a ring (orders go back to where the data come from), so links that are run-wide yield first; in a ring of data
/// the one goes first that receives most and sends least. The lower index decides ties.
std::vector<std::uint32_t> activation_order(std::size_t components, const std::vector<Link>& links);

}  // namespace trainyard::launch
