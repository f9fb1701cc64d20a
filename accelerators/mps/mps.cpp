#include "accelerators/mps/mps.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/MPSHooksInterface.h>

#include "accelerators/generator.h"

namespace trainyard {

std::string Mps::problem() const {
  return is_available() ? "" : "this LibTorch was built without MPS, or this is no Mac";
}

int Mps::device_count() const { return at::detail::getMPSHooks().hasMPS() ? 1 : 0; }

AcceleratorTraits Mps::traits() const { return {.precisions = {"32-true"}, .host_memory = false, .auto_rank = 90}; }

std::vector<at::Generator> Mps::generators() const {
  return {at::detail::getDefaultCPUGenerator(), at::detail::getMPSHooks().getDefaultGenerator()};
}

void Mps::seed(std::uint64_t seed) {
  for (const at::Generator& generator : generators()) seed_generator(generator, seed);
}

std::vector<std::uint8_t> Mps::rng_state() const { return state_of_generators(generators()); }

void Mps::set_rng_state(const std::vector<std::uint8_t>& state) { restore_generators(generators(), state, where()); }

void Mps::synchronize() { at::detail::getMPSHooks().deviceSynchronize(); }

std::map<std::string, double> Mps::stats() const {
  return {{"memory_bytes", static_cast<double>(at::detail::getMPSHooks().getCurrentAllocatedMemory())}};
}

}  // namespace trainyard

TRAINYARD_ACCELERATOR(trainyard::Mps, "mps", "The GPU of a Mac.")
