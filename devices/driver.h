// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "devices/device.h"

namespace trainyard::devices {

/// The base class of all device plugins. A device plugin gives access to one kind of device without LibTorch: to its
/// memory, its streams and its update kernels. The accelerator for this kind of device uses it (ClaimedDevice::native),
/// and so does an optimizer in another process of the host. A device plugin is optional: without one, an accelerator
/// gets memory from LibTorch, and an optimizer in another process works in host memory.
class Driver : public Configurable {
 public:
  static constexpr const char* kKind = "device";
  using Context = PluginContext;

  explicit Driver(PluginContext& context) : Configurable(context.where, context.parameters), context_(context) {}

  /// Opens the device with this UUID. Throws kNotFound if this process sees no such device; the error lists those that
  /// it sees. Throws kUnsupported if the driver cannot be used. The device must not outlive this object.
  virtual std::unique_ptr<Device> open(const std::string& uuid) = 0;

 protected:
  const PluginContext& context() const { return context_; }

 private:
  PluginContext context_;
};

}  // namespace trainyard::devices

/// Registers the class `Class` as the device plugin `name`, which is also the kind of its devices (DeviceId::kind).
/// `description` is a short text for users. The macro must be the last line of the plugin's .cpp, outside of any
/// namespace.
#define TRAINYARD_DEVICE(Class, name, description) \
  TRAINYARD_PLUGIN("device", ::trainyard::devices::Driver, ::trainyard::PluginContext, Class, name, "1", description)
