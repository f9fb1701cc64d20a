// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace trainyard {

/// Measures the rate at which a counter increases, as an exponentially weighted average with a time constant of
/// `kMemorySeconds` seconds. Pauses, such as validations, are included, so that the remaining time can be estimated
/// from the rate.
class RateMeter {
 public:
  static constexpr double kMemorySeconds = 5;

  /// Records the value `count` of the counter at time `time_ns`. If the count or the time has decreased, the
  /// measurement restarts.
  void add(std::int64_t time_ns, std::uint64_t count);

  /// Returns the rate per second, or nothing until values at two different times have been added.
  std::optional<double> per_second() const;

 private:
  bool started_ = false;
  std::int64_t last_time_ns_ = 0;
  std::uint64_t last_count_ = 0;
  double counted_ = 0;  ///< The weighted sum of the increases of the counter.
  double seconds_ = 0;  ///< The weighted sum of the elapsed time.
};

}  // namespace trainyard
