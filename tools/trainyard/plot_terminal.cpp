// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "messages/error.h"
#include "messages/printable.h"
#include "tools/trainyard/plot.h"
#include "tools/trainyard/plot_canvas.h"
#include "tools/trainyard/plot_scale.h"

namespace trainyard::tools {
namespace {

/// The characters from which the axes are drawn.
struct Strokes {
  const char* vertical;
  const char* tick_left;  ///< A mark on the vertical axis.
  const char* corner;
  const char* horizontal;
  const char* tick_below;  ///< A mark on the horizontal axis.
};
constexpr Strokes kLines{"│", "┤", "└", "─", "┬"};
constexpr Strokes kAscii{"|", "+", "+", "-", "+"};

/// Draws a plot as lines of text.
class TerminalPlot {
 public:
  TerminalPlot(const Plot& plot, const TerminalStyle& style)
      : plot_(plot),
        style_(style),
        range_(range_of(plot)),
        x_(range_.x_low, range_.x_high),
        y_(range_.y_low, range_.y_high, plot.logarithmic),
        rows_(std::max<std::size_t>(style.rows, 5) - 2),
        y_ticks_(y_.ticks(std::max<std::size_t>(rows_ / 3, 2))) {
    for (const Tick& tick : y_ticks_) margin_ = std::max(margin_, tick.label.size());
    const std::size_t taken = margin_ + 2;
    columns_ = std::max<std::size_t>(style.columns, taken + 10) - taken;
  }

  std::string text() const {
    PlotCanvas canvas(columns_, rows_, style_.unicode);
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) draw(plot_.curves[i], static_cast<std::uint8_t>(i), canvas);
    return legend() + body(canvas) + horizontal_axis();
  }

 private:
  void draw(const Curve& all, std::uint8_t pen, PlotCanvas& canvas) const {
    const Curve curve = thinned(all, range_.x_low, range_.x_high, canvas.width());
    const auto width = static_cast<double>(canvas.width() - 1), height = static_cast<double>(canvas.height() - 1);
    bool connected = false;
    double last_x = 0, last_y = 0;
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      const bool shown = std::isfinite(curve.y[i]) && (!plot_.logarithmic || curve.y[i] > 0);
      if (shown) {
        const double x = x_.position(curve.x[i]) * width, y = y_.position(curve.y[i]) * height;
        canvas.line(connected ? last_x : x, connected ? last_y : y, x, y, pen);
        last_x = x;
        last_y = y;
      }
      connected = shown;
    }
  }

  std::string legend() const {
    std::string text;
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) {
      const auto pen = static_cast<std::uint8_t>(i);
      const std::string mark = style_.unicode ? "━━" : std::string(2, mark_of(pen));
      const std::string coloured = style_.colours ? colour_of(pen) + mark + "\033[0m" : mark;
      const double last = plot_.curves[i].y.empty() ? std::nan("") : plot_.curves[i].y.back();
      text += fmt::format("{} {}  {:.6g}\n", coloured, printable_line(plot_.curves[i].name), last);
    }
    return text;
  }

  std::string body(const PlotCanvas& canvas) const {
    const Strokes& strokes = style_.unicode ? kLines : kAscii;
    std::string text;
    for (std::size_t row = 0; row < rows_; ++row) {
      const Tick* tick = tick_at(row);
      text += fmt::format("{:>{}} {}{}\n", tick == nullptr ? "" : tick->label, margin_,
                          tick == nullptr ? strokes.vertical : strokes.tick_left, canvas.row(row, style_.colours));
    }
    return text;
  }

  /// Returns the tick of the vertical axis that lies in this row of characters, or nullptr if there is none.
  const Tick* tick_at(std::size_t row) const {
    const auto in_row = [&](const Tick& tick) {
      const auto from_bottom = static_cast<std::size_t>(std::lround(tick.position * static_cast<double>(rows_ - 1)));
      return rows_ - 1 - from_bottom == row;
    };
    const auto found = std::ranges::find_if(y_ticks_, in_row);
    return found == y_ticks_.end() ? nullptr : &*found;
  }

  // Returns the labels of the horizontal axis, centred below their marks. Labels for which there is no room are left
  // out.
  std::string horizontal_axis() const {
    const Strokes& strokes = style_.unicode ? kLines : kAscii;
    std::vector<bool> marked(columns_);
    const std::size_t indent = margin_ + 2;
    std::string labels(indent + columns_, ' ');
    std::size_t free = 0;
    const std::size_t name_at = labels.size() - std::min(plot_.x_name.size(), columns_);
    for (const Tick& tick : x_.ticks(std::max<std::size_t>(columns_ / 12, 2))) {
      const auto column = static_cast<std::size_t>(std::lround(tick.position * static_cast<double>(columns_ - 1)));
      marked[column] = true;
      const std::size_t middle = indent + column, half = tick.label.size() / 2;
      const std::size_t at = middle > half ? middle - half : 0;
      if (at < free || at + tick.label.size() + 1 > name_at) continue;
      labels.replace(at, tick.label.size(), tick.label);
      free = at + tick.label.size() + 1;
    }
    labels.replace(name_at, plot_.x_name.size(), plot_.x_name);
    std::string axis = std::string(margin_ + 1, ' ') + strokes.corner;
    for (const bool mark : marked) axis += mark ? strokes.tick_below : strokes.horizontal;
    return axis + "\n" + labels + "\n";
  }

  const Plot& plot_;
  TerminalStyle style_;
  PlotRange range_;
  PlotScale x_;
  PlotScale y_;
  std::size_t rows_;  ///< The number of rows of the canvas.
  std::size_t columns_ = 0;
  std::vector<Tick> y_ticks_;
  std::size_t margin_ = 0;  ///< The width of the labels on the left, in characters.
};

}  // namespace

PlotRange range_of(const Plot& plot) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  PlotRange range{kInfinity, -kInfinity, kInfinity, -kInfinity};
  for (const Curve& curve : plot.curves) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!std::isfinite(curve.y[i]) || (plot.logarithmic && curve.y[i] <= 0)) continue;
      range.x_low = std::min(range.x_low, curve.x[i]);
      range.x_high = std::max(range.x_high, curve.x[i]);
      range.y_low = std::min(range.y_low, curve.y[i]);
      range.y_high = std::max(range.y_high, curve.y[i]);
    }
  }
  if (range.x_low > range.x_high) {
    throw Error(Code::kNotFound, "there is nothing to draw: no value is finite{}",
                plot.logarithmic ? " and above 0, as a logarithmic axis needs" : "");
  }
  return range;
}

std::string draw_in_terminal(const Plot& plot, const TerminalStyle& style) { return TerminalPlot(plot, style).text(); }

}  // namespace trainyard::tools
