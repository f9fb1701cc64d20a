// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::foxglove {

/// A message type as the Foxglove protocol describes it to clients.
struct TypeSchema {
  std::string name;
  std::string text;  ///< The type as a JSON Schema.

  friend bool operator==(const TypeSchema&, const TypeSchema&) = default;
};

/// A topic of the run, which the Foxglove protocol calls a channel.
struct Channel {
  std::uint32_t id = 0;
  std::string topic;
  TypeSchema type;
  bool latched = false;  ///< True if a new subscriber immediately gets the last message.
};

/// A service of a component. Its name is "/COMPONENT/METHOD".
struct Service {
  std::uint32_t id = 0;
  std::string name;
  std::string component, method;
  TypeSchema request, reply;
};

/// The names of components, for each topic or service. For a topic that whole processes publish, such as /log, they are
/// the names of these processes.
using Ends = std::map<std::string, std::vector<std::string>>;

/// Which components publish each topic of the run, which subscribe to it, and which provide each service.
struct Graph {
  Ends publishers, subscribers, providers;
};

/// Everything that a run offers to Foxglove clients.
struct Offer {
  std::vector<Channel> channels;
  std::vector<Service> services;
  std::vector<std::string> parameter_owners;  ///< The names of all components; each may have parameters.
  Graph graph;
};

/// Makes an Offer from the answers of the registry, the socket at which the launcher answers questions about the run. A
/// topic or service gets the same id in every offer, as long as its schema does not change.
///
/// A component that exists for each rank appears only once, under its name without the rank: calls of its services
/// reach rank 0, and its parameters are set on all ranks (docs/wire_format.md, "Components").
class OfferMaker {
 public:
  /// `topics` and `nodes` are the registry's answers to the questions of the same names. Entries that do not have the
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
