// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "tools/trainyard/graph.h"

namespace trainyard::tools {

/// Returns the graph as an indented list of processes, components, and the topics of each component with their
/// receivers. `width` is the width of the terminal; if it is 0, each topic is on one line. `bold` makes the names of
/// components bold with escape sequences.
std::string graph_text(const Graph& graph, std::size_t width = 0, bool bold = false);

/// Returns the graph as a flow chart in the language of Mermaid, which many Markdown viewers can draw.
std::string graph_mermaid(const Graph& graph);

/// Returns the graph in DOT, the language of Graphviz.
std::string graph_dot(const Graph& graph);

/// Returns the graph as JSON. Edges refer to components by name.
std::string graph_json(const Graph& graph);

}  // namespace trainyard::tools
