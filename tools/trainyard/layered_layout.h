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

/// A box of a drawing. The caller sets the size; lay_out() computes the position of its upper left corner.
struct LayoutBox {
  double width = 0;
  double height = 0;
  Point corner = {};
};

/// An arrow from one box to another; `from` and `to` are indices of boxes. lay_out() computes the points through which
/// it passes, from its tail to its head.
struct LayoutArrow {
  std::size_t from = 0;
  std::size_t to = 0;
  std::vector<Point> points = {};
};

/// Arranges boxes and arrows in layers from left to right, with the method of Sugiyama. Arrows that would close a cycle
/// are treated as reversed. Each box is at least one layer to the right of its predecessors. The boxes of each layer
/// are ordered so that few arrows cross, and are then moved towards the boxes to which arrows connect them. The result
/// depends only on the arguments, so the same graph always looks the same.
///
/// Returns the width and the height of the drawing. No points are computed for an arrow from a box to itself.
Point lay_out(std::vector<LayoutBox>& boxes, std::vector<LayoutArrow>& arrows);

}  // namespace trainyard::tools
