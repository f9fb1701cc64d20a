#pragma once

#include <cstdint>
#include <optional>

namespace trainyard {

/// How fast something counts up, smoothed: the mean over the past with weights that fall by 1/e every `kMemorySeconds`.
/// Pauses (a validation) count as the slow time they are, so that an ETA made from it holds.
class RateMeter {
 public:
  static constexpr double kMemorySeconds = 5;

  /// The counter stood at `count` at `time_ns`. Going back in either starts anew.
  void add(std::int64_t time_ns, std::uint64_t count);

  /// Per second; nothing before two different times were seen.
  std::optional<double> per_second() const;

 private:
  bool started_ = false;
  std::int64_t last_time_ns_ = 0;
  std::uint64_t last_count_ = 0;
  double counted_ = 0;  ///< Faded sum of what was counted,
  double seconds_ = 0;  ///< and of the time it took.
};

}  // namespace trainyard
