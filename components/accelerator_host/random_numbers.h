// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "accelerators/claimed_device.h"
#include "tensors/rank_generator.h"

namespace trainyard {

/// The random numbers of a rank. Every rank draws the same initial parameters, and different numbers from then on, so
/// that dropout differs between ranks.
class RandomNumbers {
 public:
  RandomNumbers(ClaimedDevice& device, std::uint64_t seed, std::uint32_t rank)
      : device_(device), seed_(seed), rank_(rank) {}

  /// Runs `build`, which draws the same numbers on every rank; the sequence of this rank begins after it. The generator
  /// of LibTorch belongs to the process, so ranks that are threads of one process build in turn. Otherwise each would
  /// see only some of the draws.
  void draw_initial(const std::function<void()>& build);

  /// Returns the generator that coordinates passes which may draw numbers.
  RankGenerator& generator() { return generator_; }

  /// Return and restore the state for a checkpoint. A checkpoint stores the state of rank 0; the other ranks begin new
  /// sequences, which depend on the step at which they resume.
  std::vector<std::uint8_t> state() const;
  void restore(const std::vector<std::uint8_t>& state, std::uint64_t step);

 private:
  ClaimedDevice& device_;
  std::uint64_t seed_;
  std::uint32_t rank_;
  RankGenerator generator_;
};

}  // namespace trainyard
