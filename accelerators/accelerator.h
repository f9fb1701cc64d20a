// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "accelerators/claimed_device.h"
#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "core/traits/accelerator_traits.h"

namespace trainyard {

using AcceleratorContext = PluginContext;

/// The devices of one kind that were found on this host.
struct FoundDevices {
  int count = 0;  ///< The number of devices. They are numbered from 0.
  /// The reason why there is no device, in words for the user. It may be empty if the host simply has no such device.
  std::string problem;
};

/// One kind of hardware. Other code does not depend on the kind.
///
/// An Accelerator reports the available devices and its rules without using a device, because plans are also made on
/// hosts that lack the hardware. To compute, claim a device; see ClaimedDevice.
class Accelerator : public Configurable {
 public:
  static constexpr const char* kKind = "accelerator";
  using Context = AcceleratorContext;

  explicit Accelerator(AcceleratorContext& context)
      : Configurable(context.where, context.parameters), context_(context) {}

  /// Returns the devices of this host. An implementation must be fast and must not throw, because the function is
  /// called often, even if the driver is missing.
  virtual FoundDevices find_devices() const = 0;

  /// Returns the rules of this hardware. They may depend on the accelerator's own parameters.
  virtual AcceleratorTraits traits() const = 0;

  int device_count() const { return find_devices().count; }
  bool is_available() const { return device_count() > 0; }

  /// Returns the numbers of the devices that `request` asks for: a count ("2" for the first two devices) or a list
  /// ("[0, 3]"). If devices can be shared (AcceleratorTraits::shared_devices), a count may exceed the number of
  /// devices, which are then assigned in turn. "auto" and -1 in a launch file have already been replaced by the
  /// planner. Throws kInvalidArgument for malformed text, and kNotFound if a device does not exist.
  std::vector<int> parse_devices(const std::string& request) const;

  /// Claims device `index` for this process and this thread. Throws kNotFound, with the number of existing devices, if
  /// there is no such device. The claimed device must not outlive this accelerator.
  std::unique_ptr<ClaimedDevice> claim(int index) const;

  /// Returns the devices and the rules of this accelerator, for the planner.
  core::PluginTraits declared_traits() const final;

 protected:
  /// Sets up what kernels on the device need (threads, streams, memory pools) and returns the device. claim() calls
  /// this function only for a device that exists.
  virtual std::unique_ptr<ClaimedDevice> open(int index) const = 0;

  const AcceleratorContext& context() const { return context_; }

 private:
  friend class ClaimedDevice;

  AcceleratorContext context_;
};

}  // namespace trainyard

/// Registers an accelerator. Must be the last line of the accelerator's .cpp, outside of any namespace.
#define TRAINYARD_ACCELERATOR(Class, name, description)                                                        \
  TRAINYARD_PLUGIN("accelerator", ::trainyard::Accelerator, ::trainyard::AcceleratorContext, Class, name, "1", \
                   description)
