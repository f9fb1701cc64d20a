// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// The beginning or the end of a slice (an event with its duration, drawn as a bar) on one lane of a row.
struct LaneEvent {
  const Event* slice = nullptr;
  std::size_t lane = 0;
  bool begins = false;  ///< True if the slice begins, false if it ends.
};

/// Distributes the slices of a row over lanes so that the slices of each lane are properly nested, and passes their
/// beginnings and ends to `emit`, in the right order for each lane. One lane suffices unless slices overlap partially.
/// A slice that overlaps partially with an earlier one is put on another lane.
void order_slices(std::vector<const Event*> slices, const std::function<void(const LaneEvent&)>& emit);

}  // namespace trainyard::timeline
