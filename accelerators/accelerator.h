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
  int count = 0;  ///< The devices have the numbers 0 to count - 1.
  /// A human-readable reason why there is no device. It may be empty if the host simply has no such device.
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

  /// Looks for devices. An implementation must be fast and must not throw. The function is called often, even if the
  /// driver is missing.
  virtual FoundDevices find_devices() const = 0;

  /// Returns the rules of this hardware. They may depend on the accelerator's own parameters.
  virtual AcceleratorTraits traits() const = 0;

  int device_count() const { return find_devices().count; }
  bool is_available() const { return device_count() > 0; }

  /// Returns the numbers of the devices that a plan asks for: a count ("2") or a list ("[0, 3]"). Throws
  /// kInvalidArgument for malformed text, and kNotFound, which gives the number of existing devices. If devices are
  /// shared, a count may be larger than that number: the devices are then assigned in turn. What "auto" and -1 in a
  /// launch file mean has been decided by the planner.
  std::vector<int> parse_devices(const std::string& request) const;

  /// Claims a device for this process and this thread. Throws kNotFound, which gives the number of existing devices, if
  /// there is no device `index`. The device must not outlive this accelerator.
  std::unique_ptr<ClaimedDevice> claim(int index) const;

  /// Returns what this accelerator tells the planner: its devices, and its rules.
  core::PluginTraits declared_traits() const final;

 protected:
  /// Sets up what kernels on this device need (threads, streams, memory pools) and returns the device. Called by
  /// claim(); device `index` exists.
  virtual std::unique_ptr<ClaimedDevice> open(int index) const = 0;

  const AcceleratorContext& context() const { return context_; }

 private:
  friend class ClaimedDevice;

  AcceleratorContext context_;
};

}  // namespace trainyard

/// Registers an accelerator. It is the last line of the accelerator's .cpp, outside of any namespace.
#define TRAINYARD_ACCELERATOR(Class, name, description)                                                        \
  TRAINYARD_PLUGIN("accelerator", ::trainyard::Accelerator, ::trainyard::AcceleratorContext, Class, name, "1", \
                   description)
