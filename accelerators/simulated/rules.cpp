// SPDX-License-Identifier: Apache-2.0
#include "accelerators/simulated/rules.h"

#include <map>

#include "messages/error.h"

namespace trainyard::simulated {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

/// Returns the traits that all kinds of simulated hardware share: they have separate memory, and `accelerator = "auto"`
/// never chooses them.
AcceleratorTraits traits(const std::string& kind) { return {.host_memory = false, .rules = kind, .auto_priority = 0}; }

/// Returns the rules of Graphcore's second-generation IPU: 900 MB of memory inside each processor, a number of devices
/// that is a power of two, graphs compiled ahead of time, fp32 and mixed fp16 arithmetic, and batches that arrive over
/// 100 Gbit/s Ethernet.
Rules ipu() {
  AcceleratorTraits rules = traits("ipu");
  rules.device_counts = {1, 2, 4, 8, 16, 32, 64};
  rules.precisions = {"32-true", "16-mixed"};
  rules.static_graph_only = true;
  rules.gradient_clipping = false;
  rules.memory_limit_bytes = 900'000'000;
  return {.traits = rules, .devices = 64, .link_gb_per_s = 12.5, .step_latency_us = 50};
}

/// Returns the rules of Google's third-generation TPU: one core or all eight cores of a board, 16 GiB per core,
/// compiled graphs, and bf16 arithmetic.
Rules tpu() {
  AcceleratorTraits rules = traits("tpu");
  rules.device_counts = {1, 8};
  rules.precisions = {"32-true", "bf16-true", "bf16-mixed"};
  rules.static_graph_only = true;
  rules.memory_limit_bytes = 16 * kGiB;
  return {.traits = rules, .devices = 8, .link_gb_per_s = 16, .step_latency_us = 100};
}

/// Returns the rules of Habana's first-generation training processor: eight cards with 32 GiB each in a host.
Rules hpu() {
  AcceleratorTraits rules = traits("hpu");
  rules.precisions = {"32-true", "bf16-true", "bf16-mixed"};
  rules.memory_limit_bytes = 32 * kGiB;
  return {.traits = rules, .devices = 8, .link_gb_per_s = 32, .step_latency_us = 50};
}

Rules custom() {
  AcceleratorTraits rules = traits("custom");
  rules.precisions = {"32-true", "64-true", "16-true", "bf16-true", "16-mixed", "bf16-mixed"};
  return {.traits = rules};
}

}  // namespace

Rules rules_of(const std::string& kind) {
  static const std::map<std::string, Rules (*)()> known{
      {"ipu", &ipu}, {"tpu", &tpu}, {"hpu", &hpu}, {"custom", &custom}};
  const auto found = known.find(kind);
  if (found == known.end()) {
    throw Error(Code::kNotFound, "no rules are known of '{}'; known: ipu, tpu, hpu, custom", kind);
  }
  return found->second();
}

}  // namespace trainyard::simulated
