// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/activity/wait_cause.h"

namespace trainyard::core {

class LoopActivity;

/// Marks the time in which a handler, hook or task blocks because something else has not finished. This time does not
/// count as busy. Make the scope around the blocking call only, not around work that the code does in the meantime:
///
///    const core::WaitScope waiting(core::WaitKind::kDevice);
///    device.synchronize();
///
/// On a thread that runs no event loop, the scope has no effect. Scopes can be nested; the time of an inner scope does
/// not count for the outer scope.
class WaitScope {
 public:
  /// `kind` is kRanks, kRank or kDevice. `number` is the rank for kRank.
  explicit WaitScope(WaitKind kind, std::uint32_t number = 0);
  ~WaitScope();
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

  /// Returns true while the accounting or the recording of the event loop is on. Only then does the caller need to find
  /// out which rank it waits for.
  bool counts() const;
  /// Names the rank that the code waits for. The whole wait, since the scope began, is attributed to the rank that is
  /// named last.
  void blame_rank(std::uint32_t rank);

 private:
  LoopActivity* activity_;
  std::uint64_t outer_ = 0;    // What the scope around this one waits for, packed.
  std::int64_t begin_ns_ = 0;  // When the wait began; 0 if nobody watched.
};

}  // namespace trainyard::core
