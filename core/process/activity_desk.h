// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/loop/event_loop.h"
#include "core/process/component_host.h"
#include "core/process/plan_view.h"

namespace trainyard::core {

/// Accounts for the time of the components of a process while somebody watches, and describes it. Whoever asks for the
/// counters of the process can ask for this for a limited time, which every further question extends. When the time is
/// over, the accounting ends, and costs nothing again. It is used only on the control thread.
class ActivityDesk {
 public:
  /// The longest time for which one question can ask.
  static constexpr double kMostSeconds = 60;

  /// All objects passed by reference must outlive this object.
  ActivityDesk(EventLoop& control, const PlanView& plan, const ComponentHost& host);
  /// Ends the accounting.
  ~ActivityDesk();
  ActivityDesk(const ActivityDesk&) = delete;
  ActivityDesk& operator=(const ActivityDesk&) = delete;

  /// Accounts for the next `seconds`, or longer if somebody else has asked for more.
  void watch(double seconds);

  /// Returns the totals of every component, or null while nobody watches.
  nlohmann::json describe() const;

 private:
  using Clock = std::chrono::steady_clock;

  void end_when_due();
  nlohmann::json describe(const Totals& totals) const;

  EventLoop& control_;
  const PlanView& plan_;
  const ComponentHost& host_;
  std::optional<Clock::time_point> until_;  ///< Set while the accounting is on.
  EventLoop::TimerId timer_ = 0;
};

/// Returns the number of seconds for which the body of a request for the counters asks with `activity_s`, or nothing if
/// it does not. Throws kInvalidArgument if the body is not a JSON object, or the number is not in (0, kMostSeconds].
std::optional<double> read_activity_seconds(const std::string& body);

}  // namespace trainyard::core
