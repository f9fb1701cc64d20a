#pragma once

#include <cstdint>
#include <optional>

namespace trainyard {

/// How fast something counts up, smoothed: a mean over the past whose weights fall by 1/e every `kMemorySeconds`.
/// Pauses (a validation) count as the slow time that they are, so a remaining time computed from the rate is right.
class RateMeter {
 public:
  static constexpr double kMemorySeconds = 5;

  /// Records that the counter stood at `count` at `time_ns`. If either goes back, the meter starts anew.
  void add(std::int64_t time_ns, std::uint64_t count);

  /// The rate per second; empty until two different times have been seen.
  std::optional<double> per_second() const;

 private:
  bool started_ = false;
  std::int64_t last_time_ns_ = 0;
  std::uint64_t last_count_ = 0;
  double counted_ = 0;  ///< The faded sum of what was counted ...
  double seconds_ = 0;  ///< ... and of the time that it took.
};

}  // namespace trainyard
