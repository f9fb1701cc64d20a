// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "accelerators/accelerator.h"

namespace trainyard {

/// The accelerator for the processor of this host. It computes on host memory, so processes can share a rank's
/// parameters and gradients (the arena) without a copy.
///
/// The number of devices is the number of usable cores, and the ranks divide the cores: `devices = 2` means two ranks,
/// each with half as many threads as there are cores. There may be more ranks than cores; each rank then has one
/// thread, and the ranks share the cores. Threads are pinned to cores only if the launch file sets the parameter
/// `cpus`.
class Cpu final : public Accelerator {
 public:
  explicit Cpu(AcceleratorContext& context);

  FoundDevices find_devices() const override;
  AcceleratorTraits traits() const override;

 protected:
  /// Sets the number of threads of LibTorch and its BLAS library, pins the calling thread if the parameter `cpus` is
  /// set, and makes malloc keep freed memory instead of returning it to the operating system. All of this except the
  /// pinning affects the whole process.
  std::unique_ptr<ClaimedDevice> open(int index) const override;

 private:
  int threads() const;
  void warn_if_crowded() const;
  void warn_of_slow_blas() const;
  std::vector<int> own_cores() const;

  Parameter<std::string> threads_{*this, "threads", "auto",
                                  "threads for kernels: a number, or auto = an equal share of the cores for each rank"};
  Parameter<std::vector<std::int64_t>> cpus_{*this, "cpus", std::vector<std::int64_t>{},
                                             "numbers of the cores to run on, divided among the ranks; "
                                             "empty = any"};
};

}  // namespace trainyard
