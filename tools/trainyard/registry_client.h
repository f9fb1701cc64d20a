// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <zmq.hpp>

#include "launch/run/run_directory.h"

namespace trainyard::tools {

/// A client of the registry of a running launch. Every question has a deadline, so a command does not hang if the
/// launcher is stopped. The client asks one question at a time. An answer that arrives too late is recognised by its id
/// and discarded.
class RegistryClient {
 public:
  /// Connects to the registry. Success does not prove that the launcher is running. Throws kIo.
  RegistryClient(zmq::context_t& context, const std::string& endpoint);

  /// Asks the question `op`, which is "run", "topics" or "nodes", and returns the answer. Throws kTimeout if no answer
  /// arrives, and kInvalidArgument, with the reason, if the registry refuses the question.
  nlohmann::json ask(const std::string& op);

  /// Calls a method of a component: a service, or param.list, param.get or param.set. Returns the result. Throws
  /// kNotFound if the component does not exist, and kTimeout if no answer arrives. Throws kInvalidArgument, with the
  /// reason, if the component refuses the call, for example because it has no such method.
  nlohmann::json call(const std::string& target, const std::string& method,
                      const nlohmann::json& body = nlohmann::json::object());

 private:
  nlohmann::json exchange(nlohmann::json question, std::chrono::seconds deadline);

  zmq::socket_t socket_;
  std::uint64_t next_id_ = 1;
};

}  // namespace trainyard::tools
