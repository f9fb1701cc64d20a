// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/plot_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace trainyard::tools {
namespace {

constexpr std::string_view kMarks = "*+ox#@%&";

/// Colours (as SGR codes) that are readable on a dark and on a light background.
constexpr int kColours[] = {36, 33, 35, 32, 34, 31, 96, 93};

/// The bits of Unicode's braille patterns, by row from the top and by column.
constexpr std::uint8_t kDots[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

/// Returns the braille pattern U+2800 + dots in UTF-8.
std::string braille_pattern(std::uint8_t dots) {
  return {static_cast<char>(0xe2), static_cast<char>(0xa0 | (dots >> 6)), static_cast<char>(0x80 | (dots & 0x3f))};
}

}  // namespace

char mark_of(std::uint8_t pen) { return kMarks[pen % kMarks.size()]; }

std::string colour_of(std::uint8_t pen) { return fmt::format("\033[{}m", kColours[pen % std::size(kColours)]); }

PlotCanvas::PlotCanvas(std::size_t columns, std::size_t rows, bool braille)
    : columns_(columns), rows_(rows), braille_(braille), cells_(columns * rows) {}

void PlotCanvas::dot(std::int64_t x, std::int64_t y, std::uint8_t pen) {
  if (x < 0 || y < 0 || x >= static_cast<std::int64_t>(width()) || y >= static_cast<std::int64_t>(height())) return;
  const auto column = static_cast<std::size_t>(x), from_top = height() - 1 - static_cast<std::size_t>(y);
  Cell& cell = cells_[braille_ ? from_top / 4 * columns_ + column / 2 : from_top * columns_ + column];
  // The dots of another pen are removed, because a character can have only one colour.
  if (cell.pen != pen) cell.dots = 0;
  cell.dots |= braille_ ? kDots[from_top % 4][column % 2] : 1;
  cell.pen = pen;
}

void PlotCanvas::line(double x0, double y0, double x1, double y1, std::uint8_t pen) {
  const double steps = std::ceil(std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1.0}));
  // Normally the caller's scale keeps lines near the canvas, so this only protects against endless loops.
  if (!(steps < 1e6)) return;
  for (double i = 0; i <= steps; ++i) {
    const double share = i / steps;
    dot(std::llround(x0 + share * (x1 - x0)), std::llround(y0 + share * (y1 - y0)), pen);
  }
}

std::string PlotCanvas::row(std::size_t row, bool colours) const {
  std::string text;
  int pen = -1;
  for (std::size_t column = 0; column < columns_; ++column) {
    const Cell& cell = cells_[row * columns_ + column];
    const int wanted = cell.dots == 0 ? -1 : cell.pen;
    if (colours && wanted != pen && wanted >= 0) text += colour_of(cell.pen);
    if (colours && wanted != pen && wanted < 0) text += "\033[0m";
    pen = wanted;
    text += cell.dots == 0 ? " " : braille_ ? braille_pattern(cell.dots) : std::string(1, mark_of(cell.pen));
  }
  if (colours && pen >= 0) return text + "\033[0m";
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace trainyard::tools
