// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/trainyard/graph.h"

namespace trainyard::tools {

/// Returns the graph as an SVG picture with a box for each component and a box for each group of topics with the same
/// senders and receivers. The colours adapt to a light or a dark colour scheme. The picture refers to no other files,
/// such as fonts.
std::string graph_svg(const Graph& graph);

}  // namespace trainyard::tools
