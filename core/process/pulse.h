// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/process/component_host.h"

namespace trainyard::core {

/// The pulse of a process: how many messages its edges have carried, and which of its event loops are busy with one
/// handler or hook. From it, the launcher learns whether the run makes progress and what holds it up. It is used only
/// on the control thread.
class Pulse {
 public:
  /// `host` must outlive this object.
  explicit Pulse(const ComponentHost& host) : host_(host) {}

  /// Asks every event loop for a sign of life, except loops that have not answered the previous request yet.
  void beat();

  /// Returns the answer to the request "pulse" as a JSON object. `sent` is the number of messages sent on all planned
  /// edges that begin in this process. `sent_blocking` is the same for edges with the policy `block` only. `busy` lists
  /// the event loops that have not answered, each with its `components` and the `seconds` since the loop was asked.
  std::string describe() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Sign {
    Clock::time_point asked;
    /// True once the loop has answered. The flag is shared with the request, because this object may be destroyed while
    /// the request is still in the queue of a loop.
    std::shared_ptr<std::atomic<bool>> answered = std::make_shared<std::atomic<bool>>(true);
  };

  const ComponentHost& host_;
  std::map<const Worker*, Sign> signs_;
};

}  // namespace trainyard::core
