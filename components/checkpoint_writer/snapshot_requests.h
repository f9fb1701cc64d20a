// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "messages/run_state.h"

namespace trainyard {

/// The snapshots that some ranks have asked for and others have not yet. When the last rank has asked, none of them
/// changes its memory until the snapshot is taken.
class SnapshotRequests {
 public:
  explicit SnapshotRequests(std::uint32_t ranks) : asked_(ranks) {}

  /// Records the request of one rank. If every rank has asked now, returns the snapshot of all of them: where rank 0
  /// stands, what each rank has for itself, and what all have trained on. Throws kInternal for a rank that does not
  /// exist, and for ranks that ask for snapshots of different orders.
  std::optional<Snapshot> add(std::shared_ptr<const Snapshot> snapshot);

 private:
  void check_order() const;
  Snapshot merged() const;

  /// The requests of each rank that wait for the matching request of another rank, the oldest first.
  std::vector<std::deque<std::shared_ptr<const Snapshot>>> asked_;
};

}  // namespace trainyard
