// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/trainyard/plot_curve.h"

namespace trainyard::tools {

/// Curves, with the names of the axes.
struct Plot {
  std::vector<Curve> curves;
  /// The unsmoothed curves, for a picture that shows both; empty if the curves were not smoothed.
  std::vector<Curve> rough;
  std::string x_name;  ///< The name of the horizontal axis: "step", "samples" or "time (min)".
  bool logarithmic = false;
};

/// Returns the smallest and the largest value of all curves that can be shown: finite and, on a logarithmic axis, above
/// 0. Throws kNotFound if there is none.
struct PlotRange {
  double x_low = 0, x_high = 0, y_low = 0, y_high = 0;
};
PlotRange range_of(const Plot& plot);

/// How a plot is drawn in a terminal.
struct TerminalStyle {
  std::size_t columns = 80;
  std::size_t rows = 20;  ///< The number of lines, including the axis but not the legend.
  bool unicode = true;    ///< True to draw with braille characters and lines; false for ASCII.
  bool colours = false;
};

/// Returns the plot as lines of text, with the legend first.
std::string draw_in_terminal(const Plot& plot, const TerminalStyle& style);

/// Returns the plot as an SVG picture, whose colours follow the reader's preference for a light or a dark ground. The
/// size is in pixels.
std::string draw_as_svg(const Plot& plot, std::size_t width, std::size_t height);

}  // namespace trainyard::tools
