// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "launch/plan/plan.h"

namespace trainyard::tools {

/// A component of the graph, or an external program.
struct GraphNode {
  std::string name;
  std::string plugin;  ///< Empty for an external program.
  std::string process;
};

/// A topic that leads from one component to another. `from` and `to` are indices of nodes.
struct GraphEdge {
  std::size_t from = 0;
  std::size_t to = 0;
  std::string topic;
  std::string policy;
};

/// The components of a run and the topics that connect them. Topics that no component receives are left out.
struct Graph {
  std::string title;
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
};

/// Returns the graph of a run that has been planned.
Graph graph_of(const launch::Plan& plan);

/// Returns the graph of a running launch from the registry's answers to "nodes" and "topics".
Graph graph_of(const std::string& title, const nlohmann::json& nodes, const nlohmann::json& topics);

/// A group of topics that have the same senders and the same receivers.
struct TopicGroup {
  std::vector<std::string> topics;
  std::vector<std::size_t> from;
  std::vector<std::size_t> to;
};

/// Returns the groups of topics, in the order in which the edges first mention them.
std::vector<TopicGroup> topic_groups(const Graph& graph);

/// Returns the processes in the order of their first node.
std::vector<std::string> processes_of(const Graph& graph);

}  // namespace trainyard::tools
