// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/transport/storm_trim.h"
#include "core/transport/visitor_socket.h"
#include "launch/run/announcements.h"
#include "launch/run/run_context.h"
#include "launch/run/run_outcome.h"
#include "launch/run/run_wide_parameters.h"
#include "messages/control.h"

namespace trainyard::launch {

/// The server behind the registry of a run, the socket at which the launcher answers questions. The questions come from
/// other programs of the same user on this host, which find the address in run.json, and from the run's own processes.
/// The server never blocks: a call of a component is forwarded, and its answer is sent when it arrives. The clients are
/// not trusted. The number of calls that are not answered yet is limited, both for each client and in total. If a
/// client leaves too many answers unread, its further questions are dropped until it reads the answers.
///
///    {"id": 1, "op": "run" | "topics" | "nodes"}
///    {"id": 2, "op": "call", "target": "optimizer", "method": "param.set", "body": {...}}
///    {"id": 3, "op": "call", "process": "main", "method": "counters"}      without "process": all of them
///    {"id": 4, "op": "params", "target": "optimizer"}                      short for the call of "param.list"
///    {"id": 5, "op": "announce", "topic": "/note", "schema": ..., "endpoint": ..., "publisher": ...}
///    {"id": 6, "op": "withdraw", "topic": "/note", "endpoint": ...}
/// -> {"id": 1, "ok": true, "result": ...} or {"id": 1, "ok": false, "error": "..."}
class RegistryServer {
 public:
  RegistryServer(RunContext& run, const RunOutcome& outcome);
  ~RegistryServer();
  RegistryServer(const RegistryServer&) = delete;
  RegistryServer& operator=(const RegistryServer&) = delete;

  /// Returns the address of the server, which run.json contains as `registry`.
  const std::string& endpoint() const { return socket_.endpoint(); }

  /// Handles a request from a component in `from_process`: calls the service of the target component, and sends the
  /// answer back to `from_process`. If the target is empty, the registry itself answers, and `method` is the op.
  void forward(const std::string& from_process, const Request& request);

 private:
  /// The frames that lead an answer back to its client: the client's identity, and an empty frame if the client uses a
  /// REQ socket.
  using Envelope = core::Frames;

  // Handles questions that have arrived, but only a limited number at a time, because the launcher has other work, too.
  void receive();
  void check_memory();
  void serve_text(const Envelope& envelope, std::string_view text);
  void answer(const Envelope& envelope, const nlohmann::json& reply);
  void serve(Envelope envelope, const nlohmann::json& question);
  // Forwards a question to a component or a process. The envelope is kept until the answer arrives.
  void serve_call(Envelope envelope, const nlohmann::json& question);
  void call_all_processes(Envelope envelope, const nlohmann::json& id, const std::string& method,
                          const std::string& body);
  // Counts a call of a client as open, until answer_call() is called. Throws kUnsupported if too many calls are open.
  void open_call(const std::string& client);
  void answer_call(const Envelope& envelope, const nlohmann::json& reply);

  /// Returns the answer to an op. Throws kInvalidArgument for an op that does not exist.
  nlohmann::json describe(const std::string& op);

  /// Adds a topic that a visitor (a program outside of the plan) publishes, and returns the answer. Throws
  /// kInvalidArgument if the topic belongs to the run, because only components of the run may publish on such a topic.
  nlohmann::json announce(const nlohmann::json& question);

  /// Throws if the component does not exist, or if the call would set a parameter on only one of several ranks.
  void check_call(const std::string& target, const std::string& method) const;
  /// Calls a method of a component. If the call sets a parameter of a component that exists for each rank, the
  /// parameter is set on all ranks.
  void call_component(const std::string& target, const std::string& method, const std::string& body,
                      CallTable::Answer answer);

  /// Returns the component with this name. If the name of a component that exists for each rank is given without its
  /// rank, returns the component of rank 0. Throws kNotFound if there is none; the error suggests the most similar
  /// name.
  const ComponentPlan& component(const std::string& name) const;
  const ChildProcess& process(const std::string& name) const;

  RunContext& run_;
  const RunOutcome& outcome_;
  RunWideParameters parameters_;
  Announcements announcements_;
  core::VisitorSocket socket_;
  core::Frames frames_;
  core::StormTrim trim_;
  std::map<std::string, std::size_t> open_calls_;  ///< The number of open calls of each client that has any.
  std::size_t all_open_calls_ = 0;
  PollLoop::Id watch_;
  PollLoop::Id connections_watch_;
  PollLoop::Id trim_timer_;
};

}  // namespace trainyard::launch
