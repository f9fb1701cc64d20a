// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <zmq.hpp>

#include "launch/run/run_directory.h"

namespace trainyard::tools {

/// Asks the registry of a running launch. Every question has a deadline, so a stopped launcher cannot hang a command.
/// The client asks one question at a time; an answer that arrives too late is recognised by its id and discarded.
class RegistryClient {
 public:
  /// Connects. Success does not yet prove that the launcher is running. Throws kIo.
  RegistryClient(zmq::context_t& context, const std::string& endpoint);

  /// Returns the answer to "run", "topics" or "nodes". Throws kTimeout if none comes, and kInvalidArgument with the
  /// registry's objection to the question.
  nlohmann::json ask(const std::string& op);

  /// Calls a method of a component: a service, or param.list, param.get or param.set. Throws kNotFound for a component
  /// that does not exist, kInvalidArgument with the component's objection (for example that it has no such method), and
  /// kTimeout.
  nlohmann::json call(const std::string& target, const std::string& method,
                      const nlohmann::json& body = nlohmann::json::object());

 private:
  nlohmann::json exchange(nlohmann::json question, std::chrono::seconds deadline);

  zmq::socket_t socket_;
  std::uint64_t next_id_ = 1;
};

}  // namespace trainyard::tools
