// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::foxglove {

/// A message type as the protocol describes it to clients.
struct TypeSchema {
  std::string name;
  std::string text;  ///< The type as a JSON Schema.

  friend bool operator==(const TypeSchema&, const TypeSchema&) = default;
};

/// A topic of the run, as the protocol presents it to clients.
struct Channel {
  std::uint32_t id = 0;
  std::string topic;
  TypeSchema type;
  bool latched = false;  ///< True if a visitor that subscribes late still receives the last message.
};

/// A service of a component. Its name is "/COMPONENT/METHOD".
struct Service {
  std::uint32_t id = 0;
  std::string name;
  std::string component, method;
  TypeSchema request, reply;
};

/// For each topic or service, the components that use it in one way: as publishers, subscribers or providers.
using Ends = std::map<std::string, std::vector<std::string>>;

/// Which components publish, subscribe to and provide the topics and services of the run.
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

/// Makes offers from the answers of the registry. As long as a topic or service keeps its schema, it keeps its id.
///
/// A component that exists for each rank is offered once, under its name without the rank: calls of its services reach
/// rank 0, and its parameters are set on all ranks (docs/wire_format.md, "Components").
class OfferMaker {
 public:
  /// `topics` and `nodes` are the registry's answers to the questions with these names. Entries that do not have the
  /// expected form are left out.
  Offer make(const nlohmann::json& topics, const nlohmann::json& nodes);

 private:
  void add_topic(const nlohmann::json& topic, Offer& offer);
  void add_node(const nlohmann::json& node, Offer& offer);
  void add_service(const std::string& component, const nlohmann::json& service, Offer& offer);
  std::uint32_t id_of(const std::string& name, const std::string& schema);

  std::map<std::pair<std::string, std::string>, std::uint32_t> ids_;
};

}  // namespace trainyard::foxglove
