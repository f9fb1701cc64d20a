// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "launch/plan/plan.h"

namespace trainyard::tools {

/// A node of the graph: a component or an external program.
struct GraphNode {
  std::string name;
  std::string plugin;  ///< Empty for an external program.
  std::string process;
};

/// A topic on which one component sends messages to another. `from` and `to` are indices in Graph::nodes.
struct GraphEdge {
  std::size_t from = 0;
  std::size_t to = 0;
  std::string topic;
  std::string policy;
};

/// The components and external programs of a run, and the topics on which the components send messages to each other.
/// Topics without receiving components are left out.
struct Graph {
  std::string title;
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
};

/// Returns the graph of a planned run.
Graph graph_of(const launch::Plan& plan);

/// Returns the graph of a running launch. `nodes` and `topics` are the answers to the questions "nodes" and "topics",
/// which visitors::RegistryClient::ask() returns.
Graph graph_of(const std::string& title, const nlohmann::json& nodes, const nlohmann::json& topics);

/// A group of topics that have the same senders and the same receivers. `from` and `to` are indices in Graph::nodes.
struct TopicGroup {
  std::vector<std::string> topics;
  std::vector<std::size_t> from;
  std::vector<std::size_t> to;
};

/// Divides the topics of a graph into groups. The groups are in the order in which their topics first occur in
/// Graph::edges.
std::vector<TopicGroup> topic_groups(const Graph& graph);

/// Returns the names of the processes, in the order in which they first occur in Graph::nodes.
std::vector<std::string> processes_of(const Graph& graph);

}  // namespace trainyard::tools
