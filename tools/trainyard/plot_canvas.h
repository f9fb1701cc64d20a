// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::tools {

/// A rectangle of characters in which lines are drawn. With braille characters, each character consists of 2 x 4 dots.
/// Without them, each character is one dot, and shows the mark of the line that passes through it, such as '*'.
class PlotCanvas {
 public:
  PlotCanvas(std::size_t columns, std::size_t rows, bool braille);

  /// Returns the size in dots.
  std::size_t width() const { return columns_ * (braille_ ? 2 : 1); }
  std::size_t height() const { return rows_ * (braille_ ? 4 : 1); }

  /// Draws a line between two dots, whose coordinates are counted from the bottom left corner. Dots outside the canvas
  /// are ignored. `pen` determines the colour or the mark. A character through which two lines pass gets the pen of the
  /// later line.
  void line(double x0, double y0, double x1, double y1, std::uint8_t pen);

  /// Returns one row of characters. Row 0 is the top row. If `colours` is true, the text contains escape sequences for
  /// the colours of the pens.
  std::string row(std::size_t row, bool colours) const;

 private:
  void dot(std::int64_t x, std::int64_t y, std::uint8_t pen);

  struct Cell {
    std::uint8_t dots = 0;  ///< One bit for each dot of the character, in the order of Unicode's braille patterns.
    std::uint8_t pen = 0;
  };

  std::size_t columns_;
  std::size_t rows_;
  bool braille_;
  std::vector<Cell> cells_;
};

/// Returns the mark with which a pen draws without braille characters: '*', '+', 'o', ...
char mark_of(std::uint8_t pen);

/// Returns the escape sequence that begins the colour of a pen. "\033[0m" ends it.
std::string colour_of(std::uint8_t pen);

}  // namespace trainyard::tools
