// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "messages/run_state.h"

namespace trainyard {

/// Collects the ranks' requests for snapshots, until all ranks have requested the same snapshot. From then on, no rank
/// changes its memory until the copy has been made.
class SnapshotRequests {
 public:
  explicit SnapshotRequests(std::uint32_t ranks) : asked_(ranks) {}

  /// Records the request of one rank. If all ranks have now requested this snapshot, returns their merged requests,
  /// with the position of rank 0, the separate state of every rank, and the sum of the ranks' samples. Otherwise
  /// returns nothing. Throws kInternal for a rank that does not exist, and if the ranks request snapshots for different
  /// orders.
  std::optional<Snapshot> add(std::shared_ptr<const Snapshot> snapshot);

 private:
  void check_order() const;
  Snapshot merged() const;

  /// For each rank, its requests for snapshots that not all ranks have requested yet, oldest first.
  std::vector<std::deque<std::shared_ptr<const Snapshot>>> asked_;
};

}  // namespace trainyard
