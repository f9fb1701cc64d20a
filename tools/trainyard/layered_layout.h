// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace trainyard::tools {

struct Point {
  double x = 0;
  double y = 0;
};

/// A box of a drawing. The caller gives the size; the layout finds the place of its upper left corner.
struct LayoutBox {
  double width = 0;
  double height = 0;
  Point corner = {};
};

/// An arrow from one box to another. The layout finds the points through which it passes, from its tail to its head.
struct LayoutArrow {
  std::size_t from = 0;
  std::size_t to = 0;
  std::vector<Point> points = {};
};

/// Boxes and arrows in layers from left to right, in the manner of Sugiyama: arrows that would close a cycle are turned
/// for the layout, each box is one layer to the right of its predecessors at least, the boxes of a layer are ordered so
/// that few arrows cross, and are then moved towards their neighbours. Every choice depends on the order of the boxes
/// and arrows alone, so the same graph always looks the same.
///
/// Returns the width and the height of the drawing. An arrow from a box to itself gets no points.
Point lay_out(std::vector<LayoutBox>& boxes, std::vector<LayoutArrow>& arrows);

}  // namespace trainyard::tools
