// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// What happens on one lane of a row.
struct LaneEvent {
  const Event* slice = nullptr;
  std::size_t lane = 0;
  bool begins = false;  ///< Otherwise it ends.
};

/// Orders the slices of a row such that on each lane a slice ends before those that contain it. There is one lane as
/// long as slices do not overlap in part; a slice that ends after one that began before it gets another lane.
void order_slices(std::vector<const Event*> slices, const std::function<void(const LaneEvent&)>& emit);

}  // namespace trainyard::timeline
