// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/loop/event_loop.h"
#include "core/process/activity_desk.h"
#include "core/process/component_host.h"
#include "core/process/gateway.h"
#include "messages/control.h"

namespace trainyard::core {

/// The part of a process that answers requests to the process and its components, except the request "pulse" (see
/// Pulse).
///
/// A request to a component is received on the control loop and carried out on the loop of the component, and the
/// answer is sent on the control loop. So a parameter never changes while a handler runs. A long-running handler delays
/// only the answer, for which the launcher waits a limited time.
class RequestDesk {
 public:
  /// `process` is the name of the process. `reply` sends an answer to the launcher; it is called on the control loop.
  RequestDesk(std::string process, EventLoop& control, std::function<void(const Reply&)> reply)
      : process_(std::move(process)), control_(control), reply_(std::move(reply)) {}

  /// Gives this object access to the plan and the components. Until this call, requests to components are refused.
  void open(const PlanView& plan, const ComponentHost& host) {
    plan_ = &plan;
    host_ = &host;
    activity_.emplace(control_, plan, host);
  }
  /// Gives this object access to the gateway, which serves visitors (programs that attach to a running launch). Until
  /// this call, the answer to "counters" contains no visitors.
  void open(const Gateway& gateway) { gateway_ = &gateway; }

  /// Handles one request. The answer is passed to the constructor's `reply`, before or after this function returns.
  /// Called on the control loop.
  void serve(const Request& request);

 private:
  // Runs on the loop of the component.
  void answer(Component& component, const Request& request);
  void answer_counters(const Request& request);
  std::string counters() const;

  std::string process_;
  EventLoop& control_;
  std::function<void(const Reply&)> reply_;
  const PlanView* plan_ = nullptr;
  const ComponentHost* host_ = nullptr;
  const Gateway* gateway_ = nullptr;
  std::optional<ActivityDesk> activity_;
};

}  // namespace trainyard::core
