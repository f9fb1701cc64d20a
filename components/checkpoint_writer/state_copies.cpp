// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/state_copies.h"

#include <utility>

namespace trainyard {

StateCopies::StateCopies() {
  for (std::size_t i = 0; i < kCopies; ++i) free_.push_back(std::make_unique<StateCopy>());
}

StateCopy& StateCopies::begin(const StateLayout& layout) {
  const Snapshot snapshot = std::move(waiting_.front());
  waiting_.pop_front();
  free_.back()->take(layout, snapshot);
  open_ = std::move(free_.back());
  free_.pop_back();
  return *open_;
}

void StateCopies::give_back(std::unique_ptr<StateCopy> copy) {
  copy->forget_states();
  free_.push_back(std::move(copy));
}

}  // namespace trainyard
