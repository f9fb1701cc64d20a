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
/// the number of samples.
enum class Reduction : std::uint8_t { kMean, kSum, kMax, kMin };
constexpr auto words_of(Reduction) { return words("way of merging values", "mean", "sum", "max", "min"); }

/// The reductions of the values in a message. The keys are the names of the values. A value that is not listed is
/// merged by a mean.
using Reductions = std::map<std::string, Reduction>;

/// A collector that merges named numbers from several sources. All values with the same name are merged by the
/// reduction of the first of these values. A source, such as a batch or a rank, need not have a value for every name.
class ScalarMerger {
 public:
  /// Adds a value. `weight` must be >= 0 and matters only for means. `reduction` matters only for the first value of a
  /// name. In a mean, a value of weight 0 is ignored unless all weights are 0; in that case all values count equally.
  void add(const std::string& name, double value, double weight, Reduction reduction = Reduction::kMean);
  /// Adds several values that have the same weight. Values that `reductions` does not list are merged by a mean.
  void add(const std::vector<Scalar>& values, double weight, const Reductions& reductions);

  bool empty() const { return merged_.empty(); }
  /// Returns the merged values, in the order of the first value of each name.
  std::vector<Scalar> values() const;
  /// Returns the reductions of the values, by name, except those that are kMean. Another merger needs them, together
  /// with values(), to merge the results with those of other sources.
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
