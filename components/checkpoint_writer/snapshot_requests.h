// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "messages/run_state.h"

namespace trainyard {

/// The snapshots that some but not all ranks have requested. A rank that has requested a snapshot does not change its
/// memory until the snapshot is taken, so the memory of all ranks is consistent when the last rank has made its
/// request.
class SnapshotRequests {
 public:
  explicit SnapshotRequests(std::uint32_t ranks) : asked_(ranks) {}

  /// Records the request of one rank. If every rank has now made this request, returns one snapshot for all ranks: it
  /// has the position of rank 0, the states of each rank, and the sum of the samples of all ranks. Throws kInternal for
  /// a rank that does not exist, and if ranks request snapshots for different orders.
  std::optional<Snapshot> add(std::shared_ptr<const Snapshot> snapshot);

 private:
  void check_order() const;
  Snapshot merged() const;

  /// For each rank, its requests that wait for the matching requests of other ranks, oldest first.
  std::vector<std::deque<std::shared_ptr<const Snapshot>>> asked_;
};

}  // namespace trainyard
