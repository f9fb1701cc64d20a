// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/random_numbers.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trainyard {
namespace {

/// Returns a seed that differs from rank to rank, computed with one step of splitmix64.
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

void RandomNumbers::draw_aside(const std::function<void()>& draw) {
  const auto held = generator_.hold();
  const std::vector<std::uint8_t> before = device_.rng_state();
  generator_.install();
  draw();
  device_.set_rng_state(before);
}

void RandomNumbers::save_state(StateWriter& into) const {
  const auto held = generator_.hold();
  generator_.install();
  const std::vector<std::uint8_t> state = device_.rng_state();
  Tensor generator = Tensor::empty(DType::kUInt8, {static_cast<std::int64_t>(state.size())});
  std::ranges::copy(state, generator.as<std::uint8_t>().begin());
  into.set("generator", std::move(generator), StateScope::kRank);
}

void RandomNumbers::restore_state(const StateReader& from) {
  // The type is checked here. The device checks the size.
  const std::int64_t size = from.tensor("generator").elements();
  const auto state = from.tensor("generator", DType::kUInt8, {size}).as<const std::uint8_t>();
  const auto held = generator_.hold();
  device_.set_rng_state({state.begin(), state.end()});
  generator_.adopt();
}

void RandomNumbers::begin_anew(std::uint64_t step) {
  const auto held = generator_.hold();
  device_.seed(seed_of_rank(seed_ ^ step, rank_));
  generator_.adopt();
}

}  // namespace trainyard
