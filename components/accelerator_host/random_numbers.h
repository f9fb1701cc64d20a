#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "accelerators/claimed_device.h"
#include "tensors/rank_generator.h"

namespace trainyard {

/// The random numbers of a rank: every rank draws the same initial parameters, and different numbers from then on, so
/// that no two drop out the same units.
class RandomNumbers {
 public:
  RandomNumbers(ClaimedDevice& device, std::uint64_t seed, std::uint32_t rank)
      : device_(device), seed_(seed), rank_(rank) {}

  /// Runs `build`, which draws what is the same on every rank; the rank's own sequence begins after it. LibTorch's
  /// generator belongs to the process: ranks that are threads of one build in turn, or each would see only some of the
  /// draws.
  void draw_initial(const std::function<void()>& build);

  /// Whose turn it is to draw, for passes that may.
  RankGenerator& generator() { return generator_; }

  /// For a checkpoint; and its inverse. A checkpoint has that of rank 0: the others begin new sequences, which depend
  /// on the step that they resume at.
  std::vector<std::uint8_t> state() const;
  void restore(const std::vector<std::uint8_t>& state, std::uint64_t step);

 private:
  ClaimedDevice& device_;
  std::uint64_t seed_;
  std::uint32_t rank_;
  RankGenerator generator_;
};

}  // namespace trainyard
