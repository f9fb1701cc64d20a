// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/transport/visitor_socket.h"
#include "launch/run/run_context.h"
#include "launch/run/run_wide_parameters.h"
#include "messages/control.h"

namespace trainyard::launch {

/// Answers questions about a run, from other programs of the same user on this host (`registry` in run.json) and from
/// the run's own processes. It never waits: a question for a component is forwarded, and its answer is sent later.
/// Whoever asks may be a stranger: the calls that are not answered yet are bounded, for one client and for all, and so
/// is what a client leaves unread; one that leaves too much unread is not answered.
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
  const std::string& endpoint() const { return socket_.endpoint(); }

  /// Forwards the call of another component's service by a component in `from_process`, and sends the answer back. With
  /// an empty target, the registry itself answers, with `method` as the op.
  void forward(const std::string& from_process, const Request& request);

 private:
  /// The way back to whoever has asked: the client's name, and an empty frame if the client is a REQ socket.
  using Envelope = core::Frames;

  // Serves questions that have come: not all at once, because the launcher has other work, too.
  void receive();
  void serve_text(const Envelope& envelope, std::string_view text);
  void answer(const Envelope& envelope, const nlohmann::json& reply);
  void serve(Envelope envelope, const nlohmann::json& question);
  // Passes a question on to a component or a process. The envelope is kept until the answer comes.
  void serve_call(Envelope envelope, const nlohmann::json& question);
  void call_all_processes(Envelope envelope, const nlohmann::json& id, const std::string& method,
                          const std::string& body);
  // Counts a call of a client as open, until answer_call(). Throws kUnsupported if there are too many.
  void open_call(const std::string& client);
  void answer_call(const Envelope& envelope, const nlohmann::json& reply);

  /// Returns the answer to an op. Throws kInvalidArgument for an op that does not exist.
  nlohmann::json describe(const std::string& op) const;

  /// Throws for a component that does not exist, and for a parameter that is to be set on one rank of several.
  void check_call(const std::string& target, const std::string& method) const;
  /// Calls a method of a component. A parameter of what is made for each rank is set on all ranks.
  void call_component(const std::string& target, const std::string& method, const std::string& body,
                      CallTable::Answer answer);

  /// Returns the component with this name, or that of rank 0 if the name lacks the rank. Throws kNotFound, which
  /// suggests the nearest name.
  const ComponentPlan& component(const std::string& name) const;
  const ChildProcess& process(const std::string& name) const;

  RunContext& run_;
  RunWideParameters parameters_;
  core::VisitorSocket socket_;
  core::Frames frames_;
  std::map<std::string, std::size_t> open_calls_;  ///< By client; those without any are not in it.
  std::size_t all_open_calls_ = 0;
  PollLoop::Id watch_;
  PollLoop::Id connections_watch_;
};

}  // namespace trainyard::launch
