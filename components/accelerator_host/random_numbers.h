// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "accelerators/claimed_device.h"
#include "core/state/state.h"
#include "tensors/rank_generator.h"

namespace trainyard {

/// The random numbers of a rank. Every rank draws the same initial parameters, and different numbers afterwards, so
/// that dropout differs between ranks.
class RandomNumbers final : public Stateful {
 public:
  RandomNumbers(ClaimedDevice& device, std::uint64_t seed, std::uint32_t rank)
      : device_(device), seed_(seed), rank_(rank) {}

  /// Runs `build`, which draws the same numbers on every rank, and then begins the rank's own sequence. LibTorch has
  /// one generator for the process, so ranks that are threads of one process run `build` one after another.
  void draw_initial(const std::function<void()>& build);

  /// Returns the generator of this rank. Passes that may draw random numbers run during a RankGenerator::Turn.
  RankGenerator& generator() { return generator_; }

  /// Runs `draw`, which may draw numbers, and then continues the sequence as if it had drawn none.
  void draw_aside(const std::function<void()>& draw);

  /// The name of the state in checkpoints. Every rank has its own state.
  static constexpr const char* kState = "random_numbers";

  void save_state(StateWriter& into) const override;
  void restore_state(const StateReader& from) override;
  /// Begins a new sequence that depends on `step`, at which the run resumes. Used on a rank for which the checkpoint
  /// contains no state.
  void begin_anew(std::uint64_t step);

 private:
  ClaimedDevice& device_;
  std::uint64_t seed_;
  std::uint32_t rank_;
  RankGenerator generator_;
};

}  // namespace trainyard
