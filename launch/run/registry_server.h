// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "launch/run/router_socket.h"
#include "launch/run/run_context.h"
#include "launch/run/run_wide_parameters.h"
#include "messages/control.h"

namespace trainyard::launch {

/// Answers questions about a run, from other programs of the same user on this host (`registry` in run.json) and from
/// the run's own processes. It never waits: a question for a component is forwarded, and its answer is sent later.
///
///    {"id": 1, "op": "run" | "topics" | "nodes"}
///    {"id": 2, "op": "call", "target": "optimizer", "method": "param.set", "body": {...}}
///    {"id": 3, "op": "call", "process": "main", "method": "counters"}      without "process": all of them
///    {"id": 4, "op": "params", "target": "optimizer"}                      short for the call of "param.list"
/// -> {"id": 1, "ok": true, "result": ...} or {"id": 1, "ok": false, "error": "..."}
class RegistryServer {
 public:
  explicit RegistryServer(RunContext& run);
  ~RegistryServer();
  RegistryServer(const RegistryServer&) = delete;
  RegistryServer& operator=(const RegistryServer&) = delete;

  /// Returns the address that run.json gives as `registry`.
  const std::string& endpoint() const { return endpoint_; }

  /// Forwards a component's call of another component's service, and returns the answer to it. With an empty target,
  /// the registry itself answers, with `method` as the op.
  void forward(const std::string& from_process, const Request& request);

 private:
  // Serves all questions that have come.
  void receive();
  void answer(const RouterSocket::Frames& envelope, const nlohmann::json& reply);
  void serve(const RouterSocket::Frames& envelope, const nlohmann::json& question);
  // Passes a question on to a component or a process. The envelope is kept until the answer comes, because it is the
  // way back.
  void serve_call(const RouterSocket::Frames& envelope, const nlohmann::json& question);
  void call_all_processes(const RouterSocket::Frames& envelope, const nlohmann::json& id, const std::string& method,
                          const std::string& body);

  /// Returns the answer to an op. Throws kInvalidArgument for an op that does not exist.
  nlohmann::json describe(const std::string& op) const;

  /// Calls a method of a component. A parameter of what is made for each rank is set on all ranks.
  void call_component(const std::string& target, const std::string& method, const std::string& body,
                      CallTable::Answer answer);

  /// Returns the component with this name, or that of rank 0 if the name lacks the rank. Throws kNotFound, which
  /// suggests the nearest name.
  const ComponentPlan& component(const std::string& name) const;
  const ChildProcess& process(const std::string& name) const;

  RunContext& run_;
  RunWideParameters parameters_;
  std::string endpoint_;
  RouterSocket socket_;
  PollLoop::Id watch_;
};

}  // namespace trainyard::launch
