#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <zmq.hpp>

#include "launch/run/run_directory.h"

namespace trainyard::tools {

/// Asks the registry of a running launch. Every question has a deadline, so a stopped launcher cannot hang a command.
/// One question at a time; an answer that comes too late is recognised by its id and thrown away.
class RegistryClient {
 public:
  /// Connects; that alone proves nothing. Throws kIo.
  RegistryClient(zmq::context_t& context, const std::string& endpoint);

  /// The answer to "run", "topics" or "nodes". Throws kTimeout if none comes, kInvalidArgument with what the registry
  /// says against the question.
  nlohmann::json ask(const std::string& op);

  /// Calls a method of a component: a service, or param.list, param.get, param.set. Throws kNotFound for a component
  /// that does not exist, kInvalidArgument with what the component says against it (that it has no such method, for
  /// one), and kTimeout.
  nlohmann::json call(const std::string& target, const std::string& method,
                      const nlohmann::json& body = nlohmann::json::object());

 private:
  nlohmann::json exchange(nlohmann::json question);

  zmq::socket_t socket_;
  std::uint64_t next_id_ = 1;
};

}  // namespace trainyard::tools
