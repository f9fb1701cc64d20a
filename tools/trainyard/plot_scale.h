// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::tools {

/// A mark with a label on an axis.
struct Tick {
  double position = 0;  ///< The position along the axis, from 0 to 1.
  std::string label;
};

/// One axis of a plot. It maps the values in its range to positions along the axis.
class PlotScale {
 public:
  /// Makes an axis for values from `low` to `high`. If the two are equal, the range is widened. If `logarithmic` is
  /// true, they must be greater than 0.
  PlotScale(double low, double high, bool logarithmic = false);

  /// Returns the position of a value: 0 for `low` and 1 for `high`. Values outside the range have positions below 0 or
  /// above 1.
  double position(double value) const;

  double low() const { return low_; }
  double high() const { return high_; }

  /// Returns marks for this axis: approximately `about` marks, and at least one if possible. They are at round numbers:
  /// multiples of 1, 2 or 5 times a power of ten.
  std::vector<Tick> ticks(std::size_t about) const;

 private:
  std::vector<Tick> linear_ticks(std::size_t about) const;
  std::vector<Tick> logarithmic_ticks(std::size_t about) const;

  double low_;
  double high_;
  bool logarithmic_;
};

/// Returns the label for a tick at `value`, such as "0.25", "1500", "2M" or "1e-05". `distance` is the distance to the
/// next tick, which determines the number of digits.
std::string tick_label(double value, double distance);

}  // namespace trainyard::tools
