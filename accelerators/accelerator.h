#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "accelerators/claimed_device.h"
#include "accelerators/traits.h"
#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"

namespace trainyard {

using AcceleratorContext = PluginContext;

/// What a look at this host has found of one kind of hardware.
struct FoundDevices {
  int count = 0;        ///< The devices have the numbers 0 to count - 1.
  std::string problem;  ///< Why there is no device, for people. May be empty where there simply is none.
};

/// One kind of hardware. Everything above it is written without knowing which.
///
/// An Accelerator says what is there and what rules hold, and touches no device to do so: plans ask it on hosts that
/// lack the hardware. Whoever wants to compute claims a device; what can be done with it, ClaimedDevice tells.
class Accelerator : public Configurable {
 public:
  static constexpr const char* kKind = "accelerator";
  using Context = AcceleratorContext;

  explicit Accelerator(AcceleratorContext& context)
      : Configurable(context.where, context.parameters), context_(context) {}

  /// Looks for devices. It is quick, never throws and is called often, also where the driver is missing.
  virtual FoundDevices find_devices() const = 0;

  /// Returns the rules of this hardware. They may depend on the accelerator's own parameters.
  virtual AcceleratorTraits traits() const = 0;

  int device_count() const { return find_devices().count; }
  bool is_available() const { return device_count() > 0; }

  /// Returns the numbers of the devices that a launch file asks for: a count ("2"), a list ("[0, 3]"), "auto" (one
  /// device) or "-1" (all devices). Throws kInvalidArgument for what cannot be read, and kNotFound with the number
  /// there are. Where devices are shared, a count may be larger than that number: the devices then come in turn.
  std::vector<int> parse_devices(const std::string& request) const;

  /// Claims a device for this process and this thread. Throws kNotFound with the number there are for a device that
  /// does not exist. The device must not outlive this accelerator.
  std::unique_ptr<ClaimedDevice> claim(int index) const;

  /// Returns the traits in words. This is what the planner and `trainyard plugin info` know of an accelerator.
  std::map<std::string, std::string> facts() const override;

 protected:
  /// Sets up what kernels on this device need (threads, streams, memory pools) and returns the device. `index` is that
  /// of a device that exists.
  virtual std::unique_ptr<ClaimedDevice> open(int index) const = 0;

  const AcceleratorContext& context() const { return context_; }

 private:
  friend class ClaimedDevice;

  AcceleratorContext context_;
};

}  // namespace trainyard

/// Registers an accelerator; the last line of its .cpp, inside no namespace.
#define TRAINYARD_ACCELERATOR(Class, name, description)                                                        \
  TRAINYARD_PLUGIN("accelerator", ::trainyard::Accelerator, ::trainyard::AcceleratorContext, Class, name, "1", \
                   description)
