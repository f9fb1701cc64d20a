// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::foxglove {

/// A message type as clients read it.
struct TypeSchema {
  std::string name;
  std::string text;  ///< JSON Schema.

  friend bool operator==(const TypeSchema&, const TypeSchema&) = default;
};

/// A topic of the run, as a client sees it.
struct Channel {
  std::uint32_t id = 0;
  std::string topic;
  TypeSchema type;
  bool latched = false;  ///< Whether the registry says that late subscribers receive the last message.
};

/// A service of a component. Its name is "/COMPONENT/METHOD".
struct Service {
  std::uint32_t id = 0;
  std::string name;
  std::string component, method;
  TypeSchema request, reply;
};

/// Topics or services, and the components at their ends.
using Ends = std::map<std::string, std::vector<std::string>>;

/// Who sends what to whom.
struct Graph {
  Ends publishers, subscribers, providers;
};

/// Everything that a run offers to clients.
struct Offer {
  std::vector<Channel> channels;
  std::vector<Service> services;
  std::vector<std::string> parameter_owners;  ///< The components that have parameters.
  Graph graph;
};

/// Makes offers out of the registry's answers. An id stays with the same topic, or service, and schema.
///
/// A component that exists for each rank is offered once, under its name without the rank: calls of it reach rank 0,
/// and its parameters are set on all ranks (docs/wire_format.md, "Components").
class OfferMaker {
 public:
  /// `topics` and `nodes` are the answers to the questions of these names. What is not of the expected form is left
  /// out.
  Offer make(const nlohmann::json& topics, const nlohmann::json& nodes);

 private:
  void add_topic(const nlohmann::json& topic, Offer& offer);
  void add_node(const nlohmann::json& node, Offer& offer);
  void add_service(const std::string& component, const nlohmann::json& service, Offer& offer);
  std::uint32_t id_of(const std::string& name, const std::string& schema);

  std::map<std::pair<std::string, std::string>, std::uint32_t> ids_;
};

}  // namespace trainyard::foxglove
