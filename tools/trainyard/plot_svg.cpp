// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "messages/printable.h"
#include "tools/trainyard/plot.h"
#include "tools/trainyard/plot_scale.h"

namespace trainyard::tools {
namespace {

/// The style of the picture. Most people with colour blindness can distinguish the colours of the curves, on a light
/// and on a dark background.
constexpr const char* kStyle = R"(  <style>
    svg { color-scheme: light dark; font: 13px system-ui, sans-serif; }
    .ground { fill: #ffffff; } text { fill: #57606a; } .name { fill: #1f2328; }
    .grid { stroke: #d8dee4; } .axis { stroke: #8c959f; }
    .curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; } .rough { opacity: 0.25; stroke-width: 1; }
    .c0 { stroke: #0072b2; } .c1 { stroke: #d55e00; } .c2 { stroke: #009e73; } .c3 { stroke: #cc79a7; }
    .c4 { stroke: #b8860b; } .c5 { stroke: #7251b5; } .c6 { stroke: #56b4e9; } .c7 { stroke: #6e7781; }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117; } text { fill: #9198a1; } .name { fill: #e6edf3; }
      .grid { stroke: #262c36; } .axis { stroke: #6e7681; }
      .c0 { stroke: #4aa8e8; } .c1 { stroke: #f0883e; } .c2 { stroke: #2fc79a; } .c3 { stroke: #e69ac4; }
      .c4 { stroke: #e3b341; } .c5 { stroke: #a98bf0; } .c6 { stroke: #8ed1f5; } .c7 { stroke: #9aa4af; }
    }
  </style>
)";
constexpr std::size_t kColourClasses = 8;

/// The width of a character in labels. An estimate is enough, because labels are short.
constexpr double kCharacter = 7.5;
constexpr double kLegendLine = 20;

/// Escapes a name for SVG, because names may come from files of other users.
std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : printable_line(name)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Draws a plot as an SVG picture, part by part.
class SvgPlot {
 public:
  SvgPlot(const Plot& plot, double width, double height)
      : plot_(plot),
        width_(width),
        height_(height),
        range_(range_of(plot)),
        x_(range_.x_low, range_.x_high),
        y_(range_.y_low, range_.y_high, plot.logarithmic),
        y_ticks_(y_.ticks(static_cast<std::size_t>(height / 60))) {
    std::size_t longest = 0;
    for (const Tick& tick : y_ticks_) longest = std::max(longest, tick.label.size());
    left_ = kCharacter * static_cast<double>(longest) + 20;
    top_ = 16 + kLegendLine * static_cast<double>(plot.curves.size());
    right_ = width_ - 20;
    bottom_ = height_ - 46;
  }

  std::string text() {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\" "
        "role=\"img\">\n  <title>{3}</title>\n{2}  <rect class=\"ground\" width=\"{0:g}\" height=\"{1:g}\"/>\n",
        width_, height_, kStyle, title());
    legend();
    vertical_marks();
    horizontal_marks();
    // The curves before smoothing are drawn behind the others and paler. They are clipped, because they may exceed the
    // range of the smoothed curves.
    out_ += fmt::format(
        "  <clipPath id=\"area\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/></clipPath>\n",
        left_, top_, right_ - left_, bottom_ - top_);
    for (std::size_t i = 0; i < plot_.rough.size(); ++i)
      path(plot_.rough[i], i, "curve rough", " clip-path=\"url(#area)\"");
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) path(plot_.curves[i], i, "curve", "");
    return out_ + "</svg>\n";
  }

 private:
  std::string title() const {
    std::string names;
    for (const Curve& curve : plot_.curves) names += (names.empty() ? "" : ", ") + escaped(curve.name);
    return names + " by " + escaped(plot_.x_name);
  }

  void legend() {
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) {
      const double y = 18 + kLegendLine * static_cast<double>(i);
      out_ += fmt::format("  <line class=\"curve c{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                          i % kColourClasses, left_, y, left_ + 22, y);
      out_ += fmt::format("  <text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left_ + 30, y + 4.5,
                          escaped(plot_.curves[i].name));
    }
  }

  void vertical_marks() {
    for (const Tick& tick : y_ticks_) {
      const double y = bottom_ - tick.position * (bottom_ - top_);
      out_ += fmt::format("  <line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", left_,
                          y, right_, y);
      out_ += fmt::format("  <text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left_ - 8, y + 4.5,
                          tick.label);
    }
  }

  void horizontal_marks() {
    out_ += fmt::format("  <line class=\"axis\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", left_,
                        bottom_, right_, bottom_);
    for (const Tick& tick : x_.ticks(static_cast<std::size_t>(width_ / 110))) {
      const double x = left_ + tick.position * (right_ - left_);
      out_ += fmt::format("  <line class=\"axis\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", x,
                          bottom_, x, bottom_ + 5);
      out_ += fmt::format("  <text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, bottom_ + 20,
                          tick.label);
    }
    out_ += fmt::format("  <text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left_ + right_) / 2,
                        bottom_ + 38, escaped(plot_.x_name));
  }

  // Draws a curve as a single path. A value that cannot be shown interrupts the path.
  void path(const Curve& all, std::size_t number, const char* kind, const char* clipped) {
    const Curve curve =
        thinned(all, range_.x_low, range_.x_high, static_cast<std::size_t>(std::max(right_ - left_, 1.0)));
    out_ += fmt::format("  <path class=\"{} c{}\"{} d=\"", kind, number % kColourClasses, clipped);
    bool connected = false;
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      const bool shown = std::isfinite(curve.y[i]) && (!plot_.logarithmic || curve.y[i] > 0);
      if (shown) {
        const double y = y_.position(curve.y[i]);
        // Without the line of zero length ("h0"), a single point between two gaps would be invisible.
        out_ +=
            fmt::format("{}{:.1f},{:.1f}{}", connected ? "L" : "M", left_ + x_.position(curve.x[i]) * (right_ - left_),
                        bottom_ - y * (bottom_ - top_), connected ? "" : "h0");
      }
      connected = shown;
    }
    out_ += "\"/>\n";
  }

  const Plot& plot_;
  double width_;
  double height_;
  PlotRange range_;
  PlotScale x_;
  PlotScale y_;
  std::vector<Tick> y_ticks_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;  ///< The edges of the area that contains the curves.
  std::string out_;
};

}  // namespace

std::string draw_as_svg(const Plot& plot, std::size_t width, std::size_t height) {
  return SvgPlot(plot, static_cast<double>(width), static_cast<double>(height)).text();
}

}  // namespace trainyard::tools
