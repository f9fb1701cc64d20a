// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/trainyard/plot_curve.h"

namespace trainyard::tools {

/// A set of curves to be drawn, with a description of their axes.
struct Plot {
  std::vector<Curve> curves;
  /// The curves before smoothing. An SVG picture shows them behind the smoothed curves. Empty if the curves are not
  /// smoothed.
  std::vector<Curve> rough;
  std::string x_name;  ///< The name of the horizontal axis, such as "step" or "time (min)".
  bool logarithmic = false;
};

/// The ranges of values that the axes of a plot must cover. range_of() considers only values that can be shown, that
/// is, values that are finite and, on a logarithmic axis, greater than 0. It throws kNotFound if there are no such
/// values.
struct PlotRange {
  double x_low = 0, x_high = 0, y_low = 0, y_high = 0;
};
PlotRange range_of(const Plot& plot);

/// The style in which a plot is drawn in a terminal.
struct TerminalStyle {
  std::size_t columns = 80;
  std::size_t rows = 20;  ///< The height, including the axis but not the legend.
  bool unicode = true;    ///< True to draw with braille and box-drawing characters, false to use only ASCII.
  bool colours = false;
};

/// Returns the plot as lines of text. The legend comes first.
std::string draw_in_terminal(const Plot& plot, const TerminalStyle& style);

/// Returns the plot as an SVG picture, whose colours adapt to a light or a dark colour scheme. The size is in pixels.
std::string draw_as_svg(const Plot& plot, std::size_t width, std::size_t height);

}  // namespace trainyard::tools
