// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/snapshot_requests.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "components/checkpoint_writer/of_rank.h"
#include "messages/error.h"

namespace trainyard {

std::optional<Snapshot> SnapshotRequests::add(std::shared_ptr<const Snapshot> snapshot) {
  const std::uint32_t rank = snapshot->rank;
  of_rank(asked_, rank, "a snapshot").push_back(std::move(snapshot));
  if (std::ranges::any_of(asked_, [](const auto& asked) { return asked.empty(); })) return {};
  check_order();
  Snapshot whole = merged();
  for (auto& asked : asked_) asked.pop_front();
  return whole;
}

void SnapshotRequests::check_order() const {
  const Snapshot& first = *asked_.front().front();
  for (const auto& asked : asked_) {
    if (asked.front()->order == first.order) continue;
    throw Error(Code::kInternal, "rank {} asks for a snapshot for order {}, rank 0 for order {}", asked.front()->rank,
                asked.front()->order, first.order);
  }
}

Snapshot SnapshotRequests::merged() const {
  Snapshot whole = *asked_.front().front();
  for (std::size_t rank = 1; rank < asked_.size(); ++rank) {
    const Snapshot& other = *asked_[rank].front();
    whole.samples += other.samples;
    std::ranges::copy_if(other.states, std::back_inserter(whole.states), &SavedState::per_rank);
  }
  return whole;
}

}  // namespace trainyard
