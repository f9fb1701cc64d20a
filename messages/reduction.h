#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "messages/scalar.h"

namespace trainyard {

/// How values of one name, of several batches or ranks, become one. A mean is weighted, by samples as a rule.
enum class Reduction : std::uint8_t { kMean, kSum, kMax, kMin };

/// "mean", "sum", "max", "min"
std::string_view name_of(Reduction reduction);
/// Throws kInvalidArgument with the known names.
Reduction reduction_from(std::string_view name);

/// As messages carry it, by the value's name: those that are not a mean.
using Reductions = std::map<std::string, std::string>;

/// Merges named numbers. Each name is merged over those who have it, in the way that was asked for first; names come
/// out in the order in which they first came in.
class ScalarMerger {
 public:
  /// `weight` counts for means only; >= 0. What weighs nothing does not count, as long as something else does.
  void add(const std::string& name, double value, double weight, Reduction reduction = Reduction::kMean);
  /// Throws kInvalidArgument for a reduction that there is not.
  void add(const std::vector<Scalar>& values, double weight, const Reductions& reductions);

  bool empty() const { return merged_.empty(); }
  std::vector<Scalar> values() const;
  /// Of what `values` gives, so that the result can be merged again.
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
