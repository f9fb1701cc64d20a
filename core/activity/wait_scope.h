// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/activity/wait_cause.h"

namespace trainyard::core {

class LoopActivity;

/// Marks the time in which a handler, hook or task of a component blocks until a device or another rank has finished
/// something. This time does not count as busy. Put only the blocking call into the scope, and no work of the
/// component:
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

  /// Returns true while times are measured or recorded (LoopActivity::on). Only then does the caller need to find out
  /// which rank it waits for.
  bool counts() const;
  /// Sets the rank that the code waits for. The whole wait, from the beginning of the scope, is attributed to the rank
  /// that was set last.
  void blame_rank(std::uint32_t rank);

 private:
  LoopActivity* activity_;
  std::uint64_t outer_ = 0;    // The cause of the enclosing scope, packed; 0 if there is none.
  std::int64_t begin_ns_ = 0;  // When the wait began; 0 if times were neither measured nor recorded.
};

}  // namespace trainyard::core
