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

/// The pulse of a process: how many messages the process has sent over edges (connections between components), and
/// which of its event loops have been busy with one handler or hook for some time. From the pulse, the launcher learns
/// whether the run makes progress and which components hold it up. This class is used only on the control thread, which
/// communicates with the launcher.
class Pulse {
 public:
  /// `host` must outlive this object.
  explicit Pulse(const ComponentHost& host) : host_(host) {}

  /// Posts a task to every event loop. By running the task, the loop shows that it is not stuck. A loop that has not
  /// run the previous task yet gets no new one. The process calls this function at every heartbeat.
  void beat();

  /// Returns the answer to the request "pulse" as a JSON object. `sent` is the number of messages sent on all planned
  /// edges that begin in this process. `sent_blocking` is the same for edges with the policy `block` only. `busy` lists
  /// the event loops that have not run their task yet, each with its `components` and the `seconds` since the task was
  /// posted.
  std::string describe() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Sign {
    Clock::time_point asked;
    /// True once the loop has run the task. The task shares the flag, because this object may be destroyed while the
    /// task is still in the queue of a loop.
    std::shared_ptr<std::atomic<bool>> answered = std::make_shared<std::atomic<bool>>(true);
  };

  const ComponentHost& host_;
  std::map<const Worker*, Sign> signs_;
};

}  // namespace trainyard::core
