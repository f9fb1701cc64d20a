#pragma once

#include <functional>
#include <string>

#include "core/loop/event_loop.h"
#include "core/process/component_host.h"
#include "core/process/gateway.h"
#include "messages/control.h"

namespace trainyard::core {

/// Answers what is asked of a process and its components while it runs.
///
/// A question comes in on the control loop, is answered on the component's loop, and its answer goes out on the control
/// loop again. So a handler never sees a parameter change in its middle, and a handler that runs for long holds up only
/// the answer: the launcher has a deadline for that.
class RequestDesk {
 public:
  /// `reply` is called on the control loop.
  RequestDesk(std::string process, EventLoop& control, std::function<void(const Reply&)> reply)
      : process_(std::move(process)), control_(control), reply_(std::move(reply)) {}

  // Somebody may ask before the plan has come, or after it could not be carried out: what is not open yet is not there.
  void open(const PlanView& plan, const ComponentHost& host) {
    plan_ = &plan;
    host_ = &host;
  }
  void open(const Gateway& gateway) { gateway_ = &gateway; }

  /// On the control loop.
  void serve(const Request& request);

 private:
  // On the component's loop.
  void answer(Component& component, const Request& request);
  std::string counters() const;

  std::string process_;
  EventLoop& control_;
  std::function<void(const Reply&)> reply_;
  const PlanView* plan_ = nullptr;
  const ComponentHost* host_ = nullptr;
  const Gateway* gateway_ = nullptr;
};

}  // namespace trainyard::core
