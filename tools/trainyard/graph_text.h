// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "tools/trainyard/graph.h"

namespace trainyard::tools {

/// Returns the graph as an indented list: processes, components, and what each component sends to whom. `width` is the
/// width of the terminal; 0 gives one line per topic. `bold` makes the names of components bold with escape sequences.
std::string graph_text(const Graph& graph, std::size_t width = 0, bool bold = false);

/// Returns the graph as a flow chart for Mermaid, which many Markdown viewers draw.
std::string graph_mermaid(const Graph& graph);

/// Returns the graph in the language of Graphviz.
std::string graph_dot(const Graph& graph);

/// Returns the graph as JSON, for programs. The ends of edges are names.
std::string graph_json(const Graph& graph);

}  // namespace trainyard::tools
