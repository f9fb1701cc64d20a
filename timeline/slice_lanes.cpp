// SPDX-License-Identifier: Apache-2.0
#include "timeline/slice_lanes.h"

#include <algorithm>

namespace trainyard::timeline {
namespace {

class OpenSlices {
 public:
  explicit OpenSlices(const std::function<void(const LaneEvent&)>& emit) : emit_(emit) {}

  void begin(const Event& slice) {
    const std::size_t lane = lane_for(slice);
    if (lane == open_.size()) open_.emplace_back();
    open_[lane].push_back(&slice);
    emit_({&slice, lane, true});
  }

  void end_all() {
    for (std::size_t lane = 0; lane < open_.size(); ++lane) {
      while (!open_[lane].empty()) end_last(lane);
    }
  }

 private:
  std::size_t lane_for(const Event& slice) {
    for (std::size_t lane = 0; lane < open_.size(); ++lane) {
      while (!open_[lane].empty() && open_[lane].back()->end_ns <= slice.begin_ns) end_last(lane);
      if (open_[lane].empty() || open_[lane].back()->end_ns >= slice.end_ns) return lane;
    }
    return open_.size();
  }

  void end_last(std::size_t lane) {
    emit_({open_[lane].back(), lane, false});
    open_[lane].pop_back();
  }

  const std::function<void(const LaneEvent&)>& emit_;
  std::vector<std::vector<const Event*>> open_;  ///< By lane; each slice contains the next one.
};

}  // namespace

void order_slices(std::vector<const Event*> slices, const std::function<void(const LaneEvent&)>& emit) {
  std::ranges::stable_sort(slices, [](const Event* a, const Event* b) {
    return a->begin_ns != b->begin_ns ? a->begin_ns < b->begin_ns : a->end_ns > b->end_ns;
  });
  OpenSlices open(emit);
  for (const Event* slice : slices) open.begin(*slice);
  open.end_all();
}

}  // namespace trainyard::timeline
