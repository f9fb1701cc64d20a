// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/activity/wait_cause.h"

namespace trainyard::core {

class LoopActivity;

/// Marks the time in which a handler, hook or task blocks, because something else has not finished. This time does not
/// count as busy. Make the scope where the code really stands still, not around work that it does meanwhile:
///
///    const core::WaitScope waiting(core::WaitKind::kDevice);
///    device.synchronize();
///
/// On a thread that is not an event loop's, the scope has no effect. Scopes can be nested; the inner one counts.
class WaitScope {
 public:
  /// `kind` is kRanks, kRank or kDevice. `number` is the rank for kRank.
  explicit WaitScope(WaitKind kind, std::uint32_t number = 0);
  ~WaitScope();
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

  /// Returns true while somebody watches. Finding out which rank is late is worth the effort only then.
  bool counts() const;
  /// Names the rank that this thread waits for. The whole time since the last call, or since the scope began, counts as
  /// waiting for the rank that is named last.
  void blame_rank(std::uint32_t rank);

 private:
  LoopActivity* activity_;
  std::uint64_t outer_ = 0;    // What the scope around this one waits for, packed.
  std::int64_t begin_ns_ = 0;  // When the wait began; 0 if nobody watched.
};

}  // namespace trainyard::core
