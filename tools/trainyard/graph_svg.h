// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/trainyard/graph.h"

namespace trainyard::tools {

/// Returns the graph as a picture: a box for each component, and a box for each group of topics with the same ends. Its
/// colours follow the viewer's choice of a light or a dark scheme. It needs no other file.
std::string graph_svg(const Graph& graph);

}  // namespace trainyard::tools
