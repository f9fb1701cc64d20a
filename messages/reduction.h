// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/scalar.h"
#include "messages/words.h"

namespace trainyard {

/// How values with the same name, from several batches or ranks, are merged into one. A mean is weighted, usually by
/// samples.
enum class Reduction : std::uint8_t { kMean, kSum, kMax, kMin };
constexpr auto words_of(Reduction) { return words("way of merging values", "mean", "sum", "max", "min"); }

/// The reductions that messages carry, by the name of the value. Values that are not listed are merged by a mean.
using Reductions = std::map<std::string, Reduction>;

/// Merges named numbers. Each name is merged over the sources that have it, with the reduction that was first given for
/// it. The results are in the order in which the names were first added.
class ScalarMerger {
 public:
  /// Adds a value. `weight` must be >= 0 and matters only for means. A value of weight 0 is ignored unless all weights
  /// are 0.
  void add(const std::string& name, double value, double weight, Reduction reduction = Reduction::kMean);
  void add(const std::vector<Scalar>& values, double weight, const Reductions& reductions);

  bool empty() const { return merged_.empty(); }
  std::vector<Scalar> values() const;
  /// Returns the reductions of the values that `values` returns, so that the result can be merged again.
  Reductions reductions() const;

 private:
  struct Merged {
    std::string name;
    Reduction reduction = Reduction::kMean;
    double weight = 0;
    double weighted_sum = 0;
    double count = 0;
    double sum = 0;
    double low = 0;
    double high = 0;
  };
  Merged& find_or_add(const std::string& name, double value, Reduction reduction);
  static double result(const Merged& merged);
  static double mean(const Merged& merged);

  std::vector<Merged> merged_;
};

}  // namespace trainyard
