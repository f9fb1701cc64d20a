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

/// Measures, on request, how the components of a process spend their time, and reports the results. A request for the
/// counters of the process can turn the measurement on for a limited time (watch()), which further requests can extend.
/// When this time is over, the measurement ends, so that it costs nothing while nobody needs it. This class is used
/// only on the control thread, which communicates with the launcher.
class ActivityDesk {
 public:
  /// The longest time, in seconds, for which one request can turn the measurement on.
  static constexpr double kMostSeconds = 60;

  /// All objects passed by reference must outlive this object.
  ActivityDesk(EventLoop& control, const PlanView& plan, const ComponentHost& host);
  /// Ends the measurement.
  ~ActivityDesk();
  ActivityDesk(const ActivityDesk&) = delete;
  ActivityDesk& operator=(const ActivityDesk&) = delete;

  /// Turns the measurement on for the next `seconds`. If it is on already and would last longer, nothing changes.
  void watch(double seconds);

  /// Returns a JSON list that contains one object for each component, with its totals since the measurement began, or
  /// null while the measurement is off.
  nlohmann::json describe() const;

 private:
  using Clock = std::chrono::steady_clock;

  void end_when_due();
  nlohmann::json describe(const Totals& totals) const;

  EventLoop& control_;
  const PlanView& plan_;
  const ComponentHost& host_;
  std::optional<Clock::time_point> until_;  ///< When the measurement ends; empty while there is none.
  EventLoop::TimerId timer_ = 0;
};

/// Reads the body of a request for the counters. Returns the value of its key `activity_s`, the number of seconds for
/// which the measurement is to be on, or an empty optional if the body is empty or does not have this key. Throws
/// kInvalidArgument if the body is not a JSON object, or if the value is not a number in (0, kMostSeconds].
std::optional<double> read_activity_seconds(const std::string& body);

}  // namespace trainyard::core
