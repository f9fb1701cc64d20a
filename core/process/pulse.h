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

/// Measures the pulse of a process, from which the launcher learns whether the run makes progress and what holds it up:
/// how many messages the edges have carried, and which event loops are busy with one handler or hook. It is used only
/// on the control thread.
class Pulse {
 public:
  /// `host` must outlive this object.
  explicit Pulse(const ComponentHost& host) : host_(host) {}

  /// Asks every event loop for a sign of life, unless the answer to the last request is still missing.
  void beat();

  /// Returns the answer to the request "pulse" as JSON: `sent` counts the messages of all edges of the plan that begin
  /// here and `sent_blocking` those of edges with the policy `block`; `busy` lists the loops that have not answered,
  /// each with its `components` and the `seconds` since it was asked.
  std::string describe() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Sign {
    Clock::time_point asked;
    /// Set by the loop. It is shared, because a loop may be destroyed with the question still in its queue.
    std::shared_ptr<std::atomic<bool>> answered = std::make_shared<std::atomic<bool>>(true);
  };

  const ComponentHost& host_;
  std::map<const Worker*, Sign> signs_;
};

}  // namespace trainyard::core
