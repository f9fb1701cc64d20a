// SPDX-License-Identifier: Apache-2.0
#include "accelerators/generator.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <mutex>
#include <span>

#include "messages/error.h"

namespace trainyard::accelerators {
namespace {

std::vector<std::uint8_t> state_of(at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  // The state is a tensor of bytes on the CPU, whatever the generator's device.
  const at::Tensor state = generator.get_state();
  const auto* bytes = state.data_ptr<std::uint8_t>();
  return {bytes, bytes + state.numel()};
}

void restore(at::Generator generator, std::span<const std::uint8_t> state, const std::string& where) {
  const std::lock_guard lock(generator.mutex());
  const auto wanted = static_cast<std::size_t>(generator.get_state().numel());
  if (state.size() != wanted) {
    throw Error(Code::kCorrupt,
                "{}: a random generator state of {} bytes was given, {} are wanted: it comes from another "
                "LibTorch or kind of accelerator",
                where, state.size(), wanted);
  }
  const at::Tensor tensor = at::empty({static_cast<std::int64_t>(state.size())}, at::kByte);
  std::memcpy(tensor.data_ptr(), state.data(), state.size());
  try {
    generator.set_state(tensor);
  } catch (const c10::Error& error) {
    throw Error(Code::kCorrupt, "{}: a random generator state is damaged: {}", where, error.what_without_backtrace());
  }
}

}  // namespace

void seed_generator(at::Generator generator, std::uint64_t seed) {
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(seed);
}

std::vector<std::uint8_t> state_of_generators(const std::vector<at::Generator>& generators) {
  if (generators.size() == 1) return state_of(generators.front());
  std::vector<std::uint8_t> states;
  for (const at::Generator& generator : generators) {
    const std::vector<std::uint8_t> state = state_of(generator);
    const std::uint64_t size = state.size();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&size);
    states.insert(states.end(), bytes, bytes + sizeof size);
    states.insert(states.end(), state.begin(), state.end());
  }
  return states;
}

void restore_generators(const std::vector<at::Generator>& generators, const std::vector<std::uint8_t>& states,
                        const std::string& where) {
  if (generators.size() == 1) return restore(generators.front(), states, where);
  std::span<const std::uint8_t> left(states);
  for (const at::Generator& generator : generators) {
    std::uint64_t size = 0;
    if (left.size() >= sizeof size) std::memcpy(&size, left.data(), sizeof size);
    if (left.size() < sizeof size || size > left.size() - sizeof size) {
      throw Error(
          Code::kCorrupt,
          "{}: the states of {} random generators were wanted; {} bytes do not hold them: they come from another "
          "kind of accelerator; resume on that one, or start anew from the weights",
          where, generators.size(), states.size());
    }
    restore(generator, left.subspan(sizeof size, size), where);
    left = left.subspan(sizeof size + size);
  }
  if (left.empty()) return;
  throw Error(Code::kCorrupt,
              "{}: {} bytes follow the states of {} random generators; they come from another kind of "
              "accelerator; resume on that one, or start anew from the weights",
              where, left.size(), generators.size());
}

}  // namespace trainyard::accelerators
