// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "accelerators/accelerator.h"

namespace trainyard {

/// Any device that a vendor's backend adds to LibTorch: hpu, ipu, xla, xpu, or PrivateUse1 under any name.
///
///     accelerator = { plugin = "torch_device", library = "/opt/vendor/libhabana_torch.so", device_type = "hpu" }
///
/// The vendor's library registers itself with LibTorch when it is loaded. LibTorch then provides the devices, their
/// number and their kernels. It does not know the rules of the hardware, such as the supported precisions, so they are
/// parameters of this accelerator, with cautious defaults. Loading a library runs its code. The library must therefore
/// be named in the launch file; it is never searched for.
///
/// A library that was built for another version of LibTorch may crash when it is loaded. The planner (the part of the
/// launcher that plans a run) therefore asks for the devices and rules of this accelerator in a child process.
class TorchDevice final : public Accelerator {
 public:
  explicit TorchDevice(AcceleratorContext& context) : Accelerator(context) {}

  FoundDevices find_devices() const override;
  AcceleratorTraits traits() const override;

 protected:
  /// Makes the device the current device of this thread, and returns it.
  std::unique_ptr<ClaimedDevice> open(int index) const override;

 private:
  struct Found {
    std::optional<at::DeviceType> type;
    FoundDevices devices;
  };
  const Found& found() const;
  Found look() const;

  Parameter<std::string> library_{*this, "library", "",
                                  "path of the vendor's library; empty = LibTorch supports the device itself"};
  Parameter<std::string> device_type_{*this, "device_type", "",
                                      "LibTorch's name of the device: hpu, ipu, xla, xpu, ..."};
  Parameter<std::vector<std::int64_t>> device_counts_{*this, "device_counts", std::vector<std::int64_t>{},
                                                      "allowed numbers of devices; empty = any"};
  Parameter<std::vector<std::string>> precisions_{*this, "precisions", std::vector<std::string>{"32-true"},
                                                  "precisions that the device supports"};
  Parameter<bool> gradient_clipping_{*this, "gradient_clipping", true, "whether the device can clip gradients"};
  Parameter<bool> static_graph_only_{*this, "static_graph_only", false,
                                     "whether the device compiles its graph ahead of time"};
  Parameter<std::int64_t> memory_limit_bytes_{
      *this, "memory_limit_bytes", 0, "memory for the arena and a batch; 0 = unknown", at_least(0) | in_unit("bytes")};

  mutable std::optional<Found> found_;  ///< The result of the first search. The library is loaded only once.
};

}  // namespace trainyard
