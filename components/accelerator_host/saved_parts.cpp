// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/saved_parts.h"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "tensors/bridge.h"

namespace trainyard {

SavedParts::SavedParts(Rank rank, RandomNumbers& random, const Arena& arena, std::vector<Part> parts)
    : rank_(std::move(rank)), random_(random), arena_(arena), parts_(std::move(parts)) {}

std::vector<SavedState> SavedParts::save() {
  std::vector<SavedState> all;
  const auto take = [&all](StateWriter writer) {
    for (SavedState& state : writer.take()) all.push_back(std::move(state));
  };
  StateWriter numbers(RandomNumbers::kState, rank_.number);
  random_.save_state(numbers);
  take(std::move(numbers));
  for (const Part& part : parts_) {
    StateWriter writer(part.owner, rank_.number);
    part.state->save_state(writer);
    take(std::move(writer));
  }
  if (!has_own_buffers()) return all;
  StateWriter buffers(buffers_owner(), rank_.number);
  buffers.set("buffers", message_of(arena_.buffers().to(at::kCPU, /*non_blocking=*/false, /*copy=*/true)),
              StateScope::kRank);
  take(std::move(buffers));
  return all;
}

std::vector<std::string> SavedParts::keep(const RestoredStates& states) {
  kept_ = states;
  std::vector<std::string> owners{RandomNumbers::kState, buffers_owner()};
  for (const Part& part : parts_) owners.push_back(part.owner);
  return owners;
}

void SavedParts::restore() {
  if (!kept_) return;
  const RestoredStates states = *std::exchange(kept_, {});
  const StateReader buffers(states, buffers_owner(), rank_.number);
  // The values of a rank's buffers may depend on the number of ranks.
  if (has_own_buffers() && !buffers.empty() && buffers.ranks() == rank_.world_size) restore_buffers(buffers);
  for (const Part& part : parts_) {
    const StateReader reader(states, part.owner, rank_.number);
    if (!reader.empty()) part.state->restore_state(reader);
  }
  const StateReader numbers(states, RandomNumbers::kState, rank_.number);
  if (numbers.empty()) {
    random_.begin_anew(states.step);
  } else {
    random_.restore_state(numbers);
  }
}

void SavedParts::restore_buffers(const StateReader& from) {
  const at::NoGradGuard no_gradients;
  at::Tensor buffers = arena_.buffers();
  buffers.copy_(view_of(from.tensor("buffers", DType::kUInt8, {buffers.numel()})));
  arena_.publish_to_readers();
}

}  // namespace trainyard
