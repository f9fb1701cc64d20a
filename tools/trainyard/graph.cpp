// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/graph.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace trainyard::tools {
namespace {

using nlohmann::json;

void add_once(std::vector<std::size_t>& list, std::size_t number) {
  if (std::ranges::find(list, number) == list.end()) list.push_back(number);
}

}  // namespace

Graph graph_of(const launch::Plan& plan) {
  Graph graph{.title = plan.run, .nodes = {}, .edges = {}};
  for (const ComponentPlan& component : plan.components) {
    graph.nodes.push_back({component.name, component.plugin, component.process});
  }
  for (const launch::PlannedProcess& process : plan.processes) {
    if (!process.command.empty()) graph.nodes.push_back({process.name, "", process.name});
  }
  for (const EdgePlan& edge : plan.edges) {
    graph.edges.push_back({edge.from, edge.to, edge.topic, std::string(name_of(edge.policy))});
  }
  return graph;
}

Graph graph_of(const std::string& title, const json& nodes, const json& topics) {
  Graph graph{.title = title, .nodes = {}, .edges = {}};
  std::map<std::string, std::size_t> index;
  for (const json& node : nodes) {
    const std::string name = node.value("component", "");
    index[name] = graph.nodes.size();
    graph.nodes.push_back({name, node.value("plugin", ""), node.value("process", "")});
  }
  for (const json& topic : topics) {
    for (const json& publisher : topic.value("publishers", json::array())) {
      // The log is published by processes, which are not nodes of the graph.
      const auto from = index.find(publisher.value("component", ""));
      if (from == index.end()) continue;
      for (const json& subscriber : topic.value("subscribers", json::array())) {
        const auto to = index.find(subscriber.value("component", ""));
        if (to == index.end()) continue;
        graph.edges.push_back({from->second, to->second, topic.value("topic", ""), subscriber.value("policy", "")});
      }
    }
  }
  return graph;
}

std::vector<TopicGroup> topic_groups(const Graph& graph) {
  std::vector<std::string> order;
  std::map<std::string, TopicGroup> ends;
  for (const GraphEdge& edge : graph.edges) {
    if (!ends.contains(edge.topic)) order.push_back(edge.topic);
    add_once(ends[edge.topic].from, edge.from);
    add_once(ends[edge.topic].to, edge.to);
  }
  std::vector<TopicGroup> groups;
  for (const std::string& topic : order) {
    TopicGroup& of_topic = ends[topic];
    std::ranges::sort(of_topic.from);
    std::ranges::sort(of_topic.to);
    const auto same = std::ranges::find_if(
        groups, [&](const TopicGroup& group) { return group.from == of_topic.from && group.to == of_topic.to; });
    if (same == groups.end()) {
      groups.push_back({{topic}, of_topic.from, of_topic.to});
    } else {
      same->topics.push_back(topic);
    }
  }
  return groups;
}

std::vector<std::string> processes_of(const Graph& graph) {
  std::vector<std::string> processes;
  for (const GraphNode& node : graph.nodes) {
    if (std::ranges::find(processes, node.process) == processes.end()) processes.push_back(node.process);
  }
  return processes;
}

}  // namespace trainyard::tools
