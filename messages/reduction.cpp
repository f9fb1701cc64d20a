// SPDX-License-Identifier: Apache-2.0
#include "messages/reduction.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

ScalarMerger::Merged& ScalarMerger::find_or_add(const std::string& name, double value, Reduction reduction) {
  const auto found = std::ranges::find(merged_, name, &Merged::name);
  if (found != merged_.end()) return *found;
  merged_.push_back({.name = name, .reduction = reduction, .low = value, .high = value});
  return merged_.back();
}

void ScalarMerger::add(const std::string& name, double value, double weight, Reduction reduction) {
  Merged& merged = find_or_add(name, value, reduction);
  // The value is not multiplied by a weight of 0, because a rank without samples may have a value that is not a number.
  if (weight > 0) merged.weighted_sum += weight * value;
  merged.weight += weight;
  merged.count += 1;
  merged.sum += value;
  // If any of the values is not a number, the result is not a number either, whatever the order of the values.
  if (std::isnan(value) || value < merged.low) merged.low = value;
  if (std::isnan(value) || value > merged.high) merged.high = value;
}

void ScalarMerger::add(const std::vector<Scalar>& values, double weight, const Reductions& reductions) {
  for (const Scalar& scalar : values) {
    const auto given = reductions.find(scalar.name);
    add(scalar.name, scalar.value, weight, given == reductions.end() ? Reduction::kMean : given->second);
  }
}

double ScalarMerger::mean(const Merged& merged) {
  // If all values are equal, such as learning rates, the mean is exactly this value, without a rounding error.
  if (merged.low == merged.high) return merged.low;
  return merged.weight > 0 ? merged.weighted_sum / merged.weight : merged.sum / merged.count;
}

double ScalarMerger::result(const Merged& merged) {
  switch (merged.reduction) {
    case Reduction::kSum:
      return merged.sum;
    case Reduction::kMax:
      return merged.high;
    case Reduction::kMin:
      return merged.low;
    case Reduction::kMean:
      break;
  }
  return mean(merged);
}

std::vector<Scalar> ScalarMerger::values() const {
  std::vector<Scalar> values;
  values.reserve(merged_.size());
  for (const Merged& merged : merged_) values.push_back({merged.name, result(merged)});
  return values;
}

Reductions ScalarMerger::reductions() const {
  Reductions reductions;
  for (const Merged& merged : merged_) {
    if (merged.reduction != Reduction::kMean) reductions[merged.name] = merged.reduction;
  }
  return reductions;
}

}  // namespace trainyard
