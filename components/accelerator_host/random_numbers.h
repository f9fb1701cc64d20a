// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "accelerators/claimed_device.h"
#include "core/state/state.h"
#include "tensors/rank_generator.h"

namespace trainyard {

/// The random numbers of a rank. All ranks use the same random numbers for the initial parameters, and different ones
/// afterwards, so that dropout differs between ranks.
class RandomNumbers final : public Stateful {
 public:
  RandomNumbers(ClaimedDevice& device, std::uint64_t seed, std::uint32_t rank)
      : device_(device), seed_(seed), rank_(rank) {}

  /// Runs `build`, which gets the same random numbers on every rank, and then begins the rank's own sequence. LibTorch
  /// has one generator for the whole process, so ranks in one process run `build` one after another.
  void draw_initial(const std::function<void()>& build);

  /// Returns the generator of this rank. Code that draws random numbers must hold a RankGenerator::Turn.
  RankGenerator& generator() { return generator_; }

  /// Runs `draw`, which may draw random numbers, and then restores the state of the generator.
  void draw_aside(const std::function<void()>& draw);

  /// The name under which checkpoints store the state, separately for each rank.
  static constexpr const char* kState = "random_numbers";

  void save_state(StateWriter& into) const override;
  void restore_state(const StateReader& from) override;
  /// Begins a new sequence. Called if the checkpoint contains no state for this rank. `step` is the step at which the
  /// run resumes; the sequence depends on it.
  void begin_anew(std::uint64_t step);

 private:
  ClaimedDevice& device_;
  std::uint64_t seed_;
  std::uint32_t rank_;
  RankGenerator generator_;
};

}  // namespace trainyard
