// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "accelerators/accelerator.h"
#include "tests/test_accelerator/card.h"

namespace trainyard::test_accelerator {

/// The accelerator of test devices, with which LibTorch computes on tensors in the memory of a test device. The
/// processor cannot access this memory outside of kernels and copies, other processes of the host can open it, and
/// copies between host and device take time. The kernels are those of the processor, on one thread, so the results have
/// the same bits as with the accelerator `cpu`.
///
///     accelerator = { plugin = "test_device", link_gb_per_s = 1, latency_us = 10 }
class TestAccelerator final : public Accelerator {
 public:
  explicit TestAccelerator(AcceleratorContext& context) : Accelerator(context) {}

  FoundDevices find_devices() const override { return {.count = test_device::kDevices, .problem = ""}; }
  AcceleratorTraits traits() const override;

 protected:
  std::unique_ptr<ClaimedDevice> open(int index) const override;

 private:
  Parameter<std::int64_t> memory_bytes_{*this, "memory_bytes", std::int64_t{1} << 30, "size of the device's memory",
                                        at_least(1) | in_unit("bytes")};
  Parameter<double> link_gb_per_s_{*this, "link_gb_per_s", 0.0,
                                   "speed of copies between host and device; 0 = copies take no time",
                                   at_least(0) | in_unit("GB/s")};
  Parameter<double> latency_us_{*this, "latency_us", 0.0, "time added to every copy and every operation of a stream",
                                at_least(0) | in_unit("us")};
};

/// A test device that this process uses.
class ClaimedCard final : public ClaimedDevice {
 public:
  ClaimedCard(const TestAccelerator& accelerator, std::shared_ptr<Card> card);

  const NativeDevice* native() const override { return &native_; }

  /// Returns "memory_bytes", the memory of tensors and blocks; "tensor_bytes" and "peak_tensor_bytes", the memory of
  /// LibTorch's tensors now and at most; "operations", the number of LibTorch's operations on the device; and
  /// "link_to_device_bytes" and "link_to_host_bytes", the bytes that were really copied in each direction, for whatever
  /// purpose. All but "memory_bytes" are totals of the process.
  std::map<std::string, double> stats() const override;

 private:
  std::shared_ptr<Card> card_;
  NativeDevice native_;
};

}  // namespace trainyard::test_accelerator
