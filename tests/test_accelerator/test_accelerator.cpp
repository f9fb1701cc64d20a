// SPDX-License-Identifier: Apache-2.0
#include "tests/test_accelerator/test_accelerator.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "tensors/version.h"

namespace trainyard::test_accelerator {

AcceleratorTraits TestAccelerator::traits() const {
  AcceleratorTraits traits{.precisions = {"64-true", "32-true", "bf16-true"},
                           .host_memory = false,
                           .shares_memory_by = test_device::TestDevice::kKind,
                           .memory_limit_bytes = static_cast<std::uint64_t>(*memory_bytes_),
                           .auto_priority = 0};
  if (kHalfOnCpu) traits.precisions.emplace_back("16-true");
  return traits;
}

std::unique_ptr<ClaimedDevice> TestAccelerator::open(int index) const {
  // With one thread, sums have the same order on every machine.
  at::set_num_threads(1);
  return std::make_unique<ClaimedCard>(*this, Card::with({.index = index,
                                                          .memory_bytes = static_cast<std::size_t>(*memory_bytes_),
                                                          .link_gb_per_s = *link_gb_per_s_,
                                                          .latency_us = *latency_us_}));
}

ClaimedCard::ClaimedCard(const TestAccelerator& accelerator, std::shared_ptr<Card> card)
    : ClaimedDevice(accelerator,
                    at::Device(at::kPrivateUse1, static_cast<c10::DeviceIndex>(card->device()->options().index)),
                    fmt::format("test_device:{}", card->device()->options().index)),
      card_(std::move(card)),
      native_{card_->device(), card_->device()->adopt_stream("compute", nullptr)} {}

std::map<std::string, double> ClaimedCard::stats() const {
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  const Card::Use use = card_->use();
  const devices::LinkCount crossed = card_->device()->crossed();
  return {{"memory_bytes", number(card_->device()->used_bytes())}, {"tensor_bytes", number(use.bytes)},
          {"peak_tensor_bytes", number(use.peak_bytes)},           {"operations", number(card_->operations())},
          {"link_to_device_bytes", number(crossed.to_device)},     {"link_to_host_bytes", number(crossed.to_host)}};
}

}  // namespace trainyard::test_accelerator

TRAINYARD_ACCELERATOR(trainyard::test_accelerator::TestAccelerator, "test_device",
                      "LibTorch on a device without hardware, for tests.")
