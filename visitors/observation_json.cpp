// SPDX-License-Identifier: Apache-2.0
#include "visitors/observation_json.h"

#include <nlohmann/json.hpp>

#include "visitors/run_observer.h"

namespace trainyard::visitors {
namespace {

using nlohmann::json;

template <class T>
json number(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json component_json(const ObservedNode& node) {
  json waiting;
  if (node.shares) {
    waiting = json::array();
    for (const ComponentShares::Share& share : node.shares->waiting) {
      waiting.push_back({{"for", share.target}, {"kind", share.kind}, {"share", share.share}});
    }
  }
  return {{"name", node.name},
          {"plugin", node.plugin},
          {"process", node.process},
          {"pid", node.pid},
          {"state", node.state},
          {"restarts", node.restarts},
          {"seconds", node.shares ? json(node.shares->seconds) : json()},
          {"busy", node.shares ? json(node.shares->busy) : json()},
          {"messages_per_s", node.shares ? json(node.shares->messages_per_s) : json()},
          {"waiting", waiting}};
}

json edge_json(const ObservedEdge& edge) {
  return {{"number", edge.number},
          {"topic", edge.topic},
          {"from", edge.from},
          {"to", edge.to},
          {"policy", edge.policy},
          {"messages_per_s", number(edge.messages_per_s)},
          {"bytes_per_s", number(edge.bytes_per_s)},
          {"under_way", number(edge.under_way)},
          {"window", edge.window},
          {"dropped", edge.dropped},
          {"blocked", edge.blocked}};
}

}  // namespace

json to_json(const Observation& observation) {
  json components = json::array(), processes = json::array(), edges = json::array(), bottlenecks = json::array();
  for (const ObservedNode& node : observation.nodes) components.push_back(component_json(node));
  for (const ObservedProcess& process : observation.processes) {
    processes.push_back({{"name", process.name},
                         {"pid", process.pid},
                         {"cpu", number(process.cpu)},
                         {"memory_bytes", number(process.memory_bytes)}});
  }
  for (const ObservedEdge& edge : observation.edges) edges.push_back(edge_json(edge));
  for (const Bottleneck& each : observation.bottlenecks) {
    bottlenecks.push_back({{"component", each.component}, {"share", each.share}});
  }
  return {{"components", components}, {"processes", processes}, {"edges", edges}, {"bottlenecks", bottlenecks}};
}

}  // namespace trainyard::visitors
