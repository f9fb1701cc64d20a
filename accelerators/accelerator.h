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
  /// Tells the user why no device was found. Empty if there are devices; it can also be empty if the host simply has no
  /// such device.
  std::string problem;
};

/// The base class of all accelerators. An accelerator is a plugin for one kind of hardware. No other code depends on
/// this hardware.
///
/// An accelerator reports which devices exist, and which rules the hardware imposes, without using a device, because a
/// run can also be planned on a host that lacks the hardware. To compute on a device, call claim(), which returns a
/// ClaimedDevice.
class Accelerator : public Configurable {
 public:
  static constexpr const char* kKind = "accelerator";
  using Context = AcceleratorContext;

  explicit Accelerator(AcceleratorContext& context)
      : Configurable(context.where, context.parameters), context_(context) {}

  /// Returns the devices of this host. An implementation must be fast, because the function is called often. It must
  /// not throw: if the driver is missing, it returns a count of 0 and the reason.
  virtual FoundDevices find_devices() const = 0;

  /// Returns the rules of this hardware, such as the supported precisions. They can depend on the parameters of the
  /// accelerator in the launch file.
  virtual AcceleratorTraits traits() const = 0;

  int device_count() const { return find_devices().count; }
  bool is_available() const { return device_count() > 0; }

  /// Returns the numbers of the devices that `request` specifies. `request` is a count, such as "2" for the first two
  /// devices, or a list of device numbers, such as "[0, 3]". If devices can be shared
  /// (AcceleratorTraits::shared_devices), a count may exceed the number of devices; the result then contains some
  /// devices several times. `request` is never "auto" or -1: when the run was planned, these values of the launch file
  /// were replaced with a count. Throws kInvalidArgument if the text is malformed, the count is less than 1, or a list
  /// contains a device twice. Throws kNotFound if there are too few devices or a device of the list does not exist.
  std::vector<int> parse_devices(const std::string& request) const;

  /// Claims device `index` for the calling thread. Throws kNotFound, with the number of existing devices, if there is
  /// no such device. The claimed device must not outlive this accelerator.
  std::unique_ptr<ClaimedDevice> claim(int index) const;

  /// Returns what the planner (the part of the launcher that plans a run) must know about the accelerator: an
  /// AcceleratorReport with the number of devices and the rules.
  core::PluginTraits declared_traits() const final;

 protected:
  /// Sets up what computations on device `index` need, such as threads, streams and memory pools, and returns the
  /// claimed device. claim() calls this function on the thread that claims the device, and only for a device that
  /// exists.
  virtual std::unique_ptr<ClaimedDevice> open(int index) const = 0;

  const AcceleratorContext& context() const { return context_; }

 private:
  friend class ClaimedDevice;

  AcceleratorContext context_;
};

}  // namespace trainyard

/// Registers the class `Class` as the accelerator `name`. `description` is a short text for users. The macro must be
/// the last line of the accelerator's .cpp, outside of any namespace.
#define TRAINYARD_ACCELERATOR(Class, name, description)                                                        \
  TRAINYARD_PLUGIN("accelerator", ::trainyard::Accelerator, ::trainyard::AcceleratorContext, Class, name, "1", \
                   description)
