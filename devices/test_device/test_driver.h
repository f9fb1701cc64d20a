// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/config/parameter.h"
#include "devices/driver.h"
#include "devices/test_device/test_device.h"

namespace trainyard::test_device {

/// The device plugin "test_device". The UUID of a device is its index, from 0 to kDevices - 1. Each process that opens
/// a device allocates blocks in memory of its own, and can open the blocks of other processes.
class TestDriver final : public devices::Driver {
 public:
  explicit TestDriver(PluginContext& context) : Driver(context) {}

  std::unique_ptr<devices::Device> open(const std::string& uuid) override;

 private:
  Parameter<std::int64_t> memory_bytes_{*this, "memory_bytes", std::int64_t{1} << 30, "size of the device's memory",
                                        at_least(1) | in_unit("bytes")};
  Parameter<double> link_gb_per_s_{*this, "link_gb_per_s", 0.0,
                                   "speed of copies between host and device; 0 = copies take no time",
                                   at_least(0) | in_unit("GB/s")};
  Parameter<double> latency_us_{*this, "latency_us", 0.0, "time added to every operation", at_least(0) | in_unit("us")};
};

}  // namespace trainyard::test_device
