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

/// Measures, while somebody watches, how the components of a process spend their time, and describes the result. A
/// request for the counters of the process can ask for this measurement for a limited time, and every further request
/// can extend the time. When it is over, the measurement stops and costs nothing again. Used only on the control
/// thread.
class ActivityDesk {
 public:
  /// The longest time, in seconds, for which one request can ask.
  static constexpr double kMostSeconds = 60;

  /// All objects passed by reference must outlive this object.
  ActivityDesk(EventLoop& control, const PlanView& plan, const ComponentHost& host);
  /// Ends the measurement.
  ~ActivityDesk();
  ActivityDesk(const ActivityDesk&) = delete;
  ActivityDesk& operator=(const ActivityDesk&) = delete;

  /// Measures for the next `seconds` seconds, or longer if an earlier request has asked for more.
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
  std::optional<Clock::time_point> until_;  ///< When the measurement ends; empty while there is none.
  EventLoop::TimerId timer_ = 0;
};

/// Reads the field `activity_s` of the body of a request for the counters: for how many seconds activity is to be
/// measured. Returns nothing if the field is missing. Throws kInvalidArgument if the body is not a JSON object, or if
/// the number is not greater than 0 and at most kMostSeconds.
std::optional<double> read_activity_seconds(const std::string& body);

}  // namespace trainyard::core
