// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/random_numbers.h"

namespace trainyard {
namespace {

/// A seed that differs from rank to rank, which is one step of splitmix64.
std::uint64_t seed_of_rank(std::uint64_t seed, std::uint32_t rank) {
  std::uint64_t mixed = seed + 0x9e3779b97f4a7c15ULL * (rank + 1ULL);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

}  // namespace

void RandomNumbers::draw_initial(const std::function<void()>& build) {
  const auto held = generator_.hold();
  device_.seed(seed_);
  build();
  device_.seed(seed_of_rank(seed_, rank_));
  generator_.adopt();
}

std::vector<std::uint8_t> RandomNumbers::state() const {
  const auto held = generator_.hold();
  generator_.install();
  return device_.rng_state();
}

void RandomNumbers::restore(const std::vector<std::uint8_t>& state, std::uint64_t step) {
  const auto held = generator_.hold();
  if (rank_ == 0) {
    device_.set_rng_state(state);
  } else {
    device_.seed(seed_of_rank(seed_ ^ step, rank_));
  }
  generator_.adopt();
}

}  // namespace trainyard
