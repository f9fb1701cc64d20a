// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "messages/run_state.h"

namespace trainyard {

/// The snapshots that some ranks have requested, but not yet all of them. When the last rank has requested a snapshot,
/// no rank changes its memory until the snapshot is taken.
class SnapshotRequests {
 public:
  explicit SnapshotRequests(std::uint32_t ranks) : asked_(ranks) {}

  /// Records the request of one rank. If it was the last missing request, returns the snapshot of all ranks; otherwise
  /// returns nothing. The result has the position of rank 0, the separate state of every rank, and the sum of the
  /// ranks' samples. Throws kInternal for a rank that does not exist, and if ranks request snapshots for different
  /// orders.
  std::optional<Snapshot> add(std::shared_ptr<const Snapshot> snapshot);

 private:
  void check_order() const;
  Snapshot merged() const;

  /// The requests of each rank that wait for the matching requests of other ranks, the oldest first.
  std::vector<std::deque<std::shared_ptr<const Snapshot>>> asked_;
};

}  // namespace trainyard
