// SPDX-License-Identifier: Apache-2.0
#include "accelerators/native_device.h"

#include <fmt/format.h>

#include <memory>

#include "core/plugin/loader.h"
#include "devices/driver.h"
#include "messages/error.h"

namespace trainyard::accelerators {
namespace {

/// A device together with the driver, which must outlive it.
struct Opened {
  std::unique_ptr<devices::Driver> driver;
  std::unique_ptr<devices::Device> device;
};

}  // namespace

NativeDevice open_native_device(const PluginContext& context, const std::string& kind, const std::string& uuid,
                                void* stream) {
  if (context.plugins == nullptr) {
    throw Error(Code::kNotFound, "{}: no plugins can be loaded here, and so no device '{}'", context.where, kind);
  }
  PluginContext of_driver = context;
  of_driver.where = fmt::format("device '{}' of {}", kind, context.where);
  of_driver.parameters = "{}";
  const auto opened = std::make_shared<Opened>();
  opened->driver = context.plugins->create<devices::Driver>(kind, of_driver);
  opened->device = opened->driver->open(uuid);
  NativeDevice native{{opened, opened->device.get()}, nullptr};
  native.stream = native.device->adopt_stream("compute", stream);
  return native;
}

}  // namespace trainyard::accelerators
