// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <zmq.hpp>

namespace trainyard::visitors {

/// A client of the registry, which is the socket at which the launcher answers questions about its run
/// (docs/wire_format.md, section 2). Every question has a deadline, so a program does not hang if the launcher is
/// suspended.
class RegistryClient {
 public:
  /// Connects to the registry of a run on this host, or to a front door. Success does not prove that the launcher is
  /// running. Throws the errors of connect_visitor() (visitors/door.h).
  RegistryClient(zmq::context_t& context, const std::string& endpoint);

  /// Sets a function that is called about ten times a second while this object waits for an answer. When the function
  /// returns true, ask() and call() throw kCancelled, and answer() returns nothing.
  void cancel_when(std::function<bool()> cancelled) { cancelled_ = std::move(cancelled); }

  /// Asks the question `op`, which is "run", "topics" or "nodes" (the components), and returns the answer. Throws
  /// kTimeout if no answer arrives within 12 s, and kInvalidArgument, with the reason, if the registry refuses the
  /// question.
  nlohmann::json ask(const std::string& op);

  /// Calls a method of a component: a service, or param.list, param.get or param.set. If `target` is empty, calls the
  /// method `counters` or `pulse` of every process instead. `body` contains the arguments of the method. Returns the
  /// result; if `target` is empty, this is an object with the answer of each process. Throws kNotFound if the component
  /// does not exist, and kTimeout if no answer arrives within 12 s (72 s for param.set). Throws kInvalidArgument, with
  /// the reason, if the component refuses the call, for example because it has no such method.
  nlohmann::json call(const std::string& target, const std::string& method,
                      const nlohmann::json& body = nlohmann::json::object());

  /// Sends a question, which is an object with `op` and its arguments, and returns the question's id without waiting.
  std::uint64_t post(nlohmann::json question);

  /// Returns the answer to the question for which post() returned `id`, or nothing if no answer arrives within
  /// `deadline`. Answers to other questions that arrive in the meantime are discarded. Throws as ask() does if the
  /// registry refuses the question.
  std::optional<nlohmann::json> answer(std::uint64_t id, std::chrono::milliseconds deadline);

  /// Returns the socket, so that a program can wait for an answer and for other things at the same time.
  zmq::socket_ref socket() { return socket_; }

 private:
  nlohmann::json exchange(nlohmann::json question, std::chrono::seconds deadline);

  zmq::socket_t socket_;
  std::uint64_t next_id_ = 1;
  std::function<bool()> cancelled_;
};

}  // namespace trainyard::visitors
