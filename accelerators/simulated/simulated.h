// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "accelerators/accelerator.h"
#include "accelerators/simulated/rules.h"

namespace trainyard {

/// An accelerator that simulates hardware not present on this host, so that a launch file for the hardware can be
/// tried out. It computes on the processor, but enforces the published rules of the hardware, such as the supported
/// precisions, and waits for as long as transfers to the hardware would take.
///
///     accelerator = { plugin = "simulated", kind = "ipu" }
///     accelerator = { plugin = "simulated", device_counts = [1, 3], memory_limit_bytes = 1000000, link_gb_per_s = 2 }
///
/// `kind` selects the hardware. Each of the other parameters, if it is set, replaces one of the rules. Losses are
/// bit-identical to those of the accelerator `cpu`. A step takes as long as on the processor, plus the time for
/// transfers, which is computed from the number of bytes, plus `step_latency_us` for each batch.
class Simulated final : public Accelerator {
 public:
  explicit Simulated(AcceleratorContext& context);

  FoundDevices find_devices() const override { return {.count = rules_.devices, .problem = {}}; }
  AcceleratorTraits traits() const override { return rules_.traits; }

 protected:
  std::unique_ptr<ClaimedDevice> open(int index) const override;

 private:
  bool given(const std::string& parameter) const;

  Parameter<std::string> kind_{*this, "kind", "custom", "the hardware whose rules apply",
                               one_of({"ipu", "tpu", "hpu", "custom"})};
  Parameter<std::vector<std::int64_t>> device_counts_{*this, "device_counts", std::vector<std::int64_t>{},
                                                      "allowed numbers of devices; empty = any"};
  Parameter<std::vector<std::string>> precisions_{*this, "precisions", std::vector<std::string>{},
                                                  "precisions that the device supports"};
  Parameter<bool> gradient_clipping_{*this, "gradient_clipping", true, "whether the device can clip gradients"};
  Parameter<std::int64_t> memory_limit_bytes_{
      *this, "memory_limit_bytes", 0, "memory for the arena and a batch; 0 = no limit", at_least(0) | in_unit("bytes")};
  Parameter<double> link_gb_per_s_{*this, "link_gb_per_s", 0.0,
                                   "speed of the link from host to device; 0 = transfers take no time",
                                   at_least(0) | in_unit("GB/s")};
  Parameter<double> step_latency_us_{*this, "step_latency_us", 0.0,
                                     "time from handing over a batch to the first kernel", at_least(0) | in_unit("us")};

  simulated::Rules rules_;
};

}  // namespace trainyard
