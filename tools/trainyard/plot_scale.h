// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::tools {

/// A mark on an axis.
struct Tick {
  double position = 0;  ///< The position along the axis, from 0 to 1.
  std::string label;
};

/// One axis of a plot: a range of values, and the positions of values along the axis.
class PlotScale {
 public:
  /// The range from `low` to `high`. A range without extent is widened. If `logarithmic`, both must be above 0.
  PlotScale(double low, double high, bool logarithmic = false);

  /// Returns where a value lies, from 0 (low) to 1 (high); outside of that for values outside of the range.
  double position(double value) const;

  double low() const { return low_; }
  double high() const { return high_; }

  /// Returns marks at round numbers (1, 2 or 5 times a power of ten). There are approximately `about` marks, and at
  /// least one if the range contains a round number.
  std::vector<Tick> ticks(std::size_t about) const;

 private:
  std::vector<Tick> linear_ticks(std::size_t about) const;
  std::vector<Tick> logarithmic_ticks(std::size_t about) const;

  double low_;
  double high_;
  bool logarithmic_;
};

/// Returns a number as the label of a tick whose neighbours are `distance` away: "0.25", "1500", "2M", "1e-05".
std::string tick_label(double value, double distance);

}  // namespace trainyard::tools
