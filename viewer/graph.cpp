// SPDX-License-Identifier: Apache-2.0
#include "viewer/graph.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "visitors/run_observer.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;
using visitors::ComponentShares;
using visitors::Observation;
using visitors::ObservedEdge;
using visitors::ObservedNode;
using visitors::ObservedProcess;

/// The shares of a shorter interval are too inaccurate to be shown.
constexpr double kLeastSeconds = 0.1;

bool has_shares(const ObservedNode& node) { return node.shares && node.shares->seconds >= kLeastSeconds; }

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json process_json(const ObservedProcess& process) {
  return {{"name", process.name},
          {"pid", process.pid},
          {"cpu_percent", process.cpu ? json(100 * *process.cpu) : json()},
          {"memory_bytes", or_null(process.memory_bytes)}};
}

json waiting_json(const ComponentShares& shares) {
  json list = json::array();
  for (const ComponentShares::Share& each : shares.waiting) {
    list.push_back({{"for", each.target}, {"kind", each.kind}, {"share", each.share}});
  }
  return list;
}

/// Returns the JSON of a component. `alone` describes the component's process, or is null if the component shares the
/// process with others, because the processor time and the memory of the process then cannot be attributed to the
/// component.
json component_json(const ObservedNode& node, const json& alone) {
  return {{"name", node.name},
          {"plugin", node.plugin},
          {"process", node.process},
          {"pid", node.pid == 0 ? json() : json(node.pid)},
          {"host", ""},
          {"rank", or_null(node.rank)},
          {"state", node.state},
          {"restarts", node.restarts},
          {"cpu_percent", alone.is_null() ? json() : alone["cpu_percent"]},
          {"memory_bytes", alone.is_null() ? json() : alone["memory_bytes"]},
          {"busy", has_shares(node) ? json(node.shares->busy) : json()},
          {"waiting", has_shares(node) ? waiting_json(*node.shares) : json()}};
}

json edge_json(const ObservedEdge& edge) {
  return {{"number", edge.number},
          {"from", edge.from},
          {"to", edge.to},
          {"topic", edge.topic},
          {"policy", edge.policy},
          {"rate_hz", or_null(edge.messages_per_s)},
          {"bytes_per_s", or_null(edge.bytes_per_s)},
          {"queued", or_null(edge.under_way)},
          {"window", edge.window == 0 ? json() : json(edge.window)},
          {"dropped", edge.dropped},
          {"blocked", edge.blocked}};
}

/// Returns the bottlenecks, or null if no component measures how it spends its time, because they are then unknown.
json bottlenecks_json(const Observation& observation) {
  if (std::ranges::none_of(observation.nodes, has_shares)) return {};
  json list = json::array();
  for (const visitors::Bottleneck& each : observation.bottlenecks) {
    list.push_back({{"component", each.component}, {"share", each.share}});
  }
  return list;
}

}  // namespace

json graph_of(const Observation& observation, std::int64_t now_ns) {
  json components = json::array(), processes = json::array(), edges = json::array();
  std::map<std::string, json> process_of;
  for (const ObservedProcess& process : observation.processes) {
    processes.push_back(process_of[process.name] = process_json(process));
  }
  std::map<std::string, int> members;
  for (const ObservedNode& node : observation.nodes) ++members[node.process];
  for (const ObservedNode& node : observation.nodes) {
    components.push_back(component_json(node, members[node.process] == 1 ? process_of[node.process] : json()));
  }
  for (const ObservedEdge& edge : observation.edges) edges.push_back(edge_json(edge));
  return {{"time_ns", now_ns},
          {"components", std::move(components)},
          {"processes", std::move(processes)},
          {"edges", std::move(edges)},
          {"bottlenecks", bottlenecks_json(observation)}};
}

json graph_at_rest(json graph) {
  for (json& component : graph["components"]) {
    component["state"] = "";
    for (const char* key : {"pid", "cpu_percent", "memory_bytes", "busy", "waiting"}) component[key] = nullptr;
  }
  for (json& edge : graph["edges"]) {
    for (const char* key : {"rate_hz", "bytes_per_s", "queued"}) edge[key] = nullptr;
  }
  graph["processes"] = json::array();
  graph["bottlenecks"] = nullptr;
  return graph;
}

}  // namespace trainyard::viewer
