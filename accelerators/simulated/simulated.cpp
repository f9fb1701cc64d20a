// SPDX-License-Identifier: Apache-2.0
#include "accelerators/simulated/simulated.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "accelerators/simulated/rehearsed_device.h"
#include "tensors/version.h"

namespace trainyard {

Simulated::Simulated(AcceleratorContext& context) : Accelerator(context), rules_(simulated::rules_of(*kind_)) {
  AcceleratorTraits& traits = rules_.traits;
  if (given("device_counts")) {
    traits.device_counts.assign(device_counts_->begin(), device_counts_->end());
    // The simulated host has as many devices as the rules allow.
    if (!traits.device_counts.empty()) rules_.devices = *std::ranges::max_element(traits.device_counts);
  }
  if (given("precisions")) traits.precisions = *precisions_;
  if (given("gradient_clipping")) traits.gradient_clipping = *gradient_clipping_;
  if (given("memory_limit_bytes")) traits.memory_limit_bytes = static_cast<std::uint64_t>(*memory_limit_bytes_);
  if (given("link_gb_per_s")) rules_.link_gb_per_s = *link_gb_per_s_;
  if (given("step_latency_us")) rules_.step_latency_us = *step_latency_us_;
  // Even if the rules allow a precision, this processor must be able to compute in it.
  if (!kHalfOnCpu) std::erase(traits.precisions, "16-true");
}

/// Returns true if the launch file sets the parameter, even if only to the default value, with which a user can remove
/// a rule of the hardware.
bool Simulated::given(const std::string& parameter) const {
  return !describing() && nlohmann::json::parse(context().parameters).contains(parameter);
}

std::unique_ptr<ClaimedDevice> Simulated::open(int index) const {
  return std::make_unique<simulated::RehearsedDevice>(*this, fmt::format("{}:{} (simulated)", *kind_, index), rules_);
}

}  // namespace trainyard

TRAINYARD_ACCELERATOR(
    trainyard::Simulated, "simulated",
    "The processor under the published rules of hardware that is not here: ipu, tpu, hpu or your own.")
