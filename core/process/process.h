// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <zmq.hpp>

#include "core/process/component_host.h"
#include "core/process/control_link.h"
#include "core/process/gateway.h"
#include "core/process/life_cycle.h"
#include "core/process/plan_view.h"
#include "core/process/pulse.h"
#include "core/process/request_desk.h"
#include "core/process/span_desk.h"
#include "core/process/wiring.h"
#include "core/transport/admission.h"
#include "messages/control.h"
#include "messages/plan.h"

namespace trainyard::core {

// clang-format off
/// One operating-system process of a run. It hosts components according to the launcher's plan and changes their
/// states on request.
///
/// The thread that calls run() runs the control loop, which handles the launcher's requests, serves visitors (programs
/// outside of the plan) and sends heartbeats. Every thread of the plan gets a Worker. Components never wait for the
/// control loop.
///
///     launcher              control thread                                worker threads
///     <- Hello
///     ProcessPlan ->        ComponentHost makes workers and components,
///                           Wiring makes their edges,
///                           the threads start                             on_configure
///     <- Configured
///     Connect ->            Wiring asks for connections                   inlets connect and subscribe
///     <- Connected
///     Transition ->         LifeCycle asks                                on_activate, handlers, on_deactivate,
///                                                                         drain, on_finalize
///     <- StateChanged
///     Request ->            RequestDesk asks                              parameter or service
///     <- Reply
///
/// Calls between the last two columns are made with EventLoop::post(). A process ends when all its components have been
/// finalized. This class only turns the launcher's messages into calls; the parts named above do the work.
// clang-format on
class Process {
 public:
  /// Connects to the launcher at `control_endpoint` under the name `name`. `keys` are the keys of the run. Without
  /// keys, the process cannot use TCP, only ipc and inproc.
  Process(std::string name, const std::string& control_endpoint, RunKeys keys);
  ~Process();

  /// Runs the control loop until every component has been finalized. Returns the exit code: 0, or 1 if the plan could
  /// not be carried out.
  int run();

 private:
  // These run on the control thread.
  void on_plan(const ProcessPlan& plan);
  // Makes everything that the plan requires. `at` is always the name of the component that an error would come from, or
  // an empty string for the process itself.
  void carry_out(std::string& at);
  void open_gateway();
  void on_transition(const Transition& transition);
  void on_request(const Request& request);
  void report_configured();
  void beat();

  ComponentHost::Reports host_reports();
  LifeCycle::Reports life_reports();

  // Members are destroyed in reverse order, so each member is destroyed before the members that it uses.
  std::string name_;
  EventLoop loop_{"control"};
  RunKeys keys_;
  zmq::context_t sockets_;
  std::optional<Admission> admission_;  ///< Decides which processes may connect; empty if the run has no keys.
  ControlLink link_;
  LifeCycle life_;
  std::optional<PlanView> plan_;  ///< This member and the following ones exist once the plan has arrived.
  std::optional<ComponentHost> host_;
  std::optional<Pulse> pulse_;
  std::optional<Wiring> wiring_;
  std::unique_ptr<Gateway> gateway_;
  std::optional<SpanDesk> spans_;
  RequestDesk requests_;
  std::uint64_t beats_ = 0;
};

}  // namespace trainyard::core
