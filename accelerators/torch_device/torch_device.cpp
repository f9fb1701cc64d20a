// SPDX-License-Identifier: Apache-2.0
#include "accelerators/torch_device/torch_device.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "messages/error.h"

namespace trainyard {
namespace {

/// Loads a library. Returns an empty text, or the reason if the library could not be loaded. The library is never
/// unloaded, because LibTorch keeps pointers into it.
std::string load(const std::string& path) {
  struct stat status {};
  // The real path is used both for the check and for loading, because dlopen would search for a name without '/' in
  // other folders.
  char real[PATH_MAX];
  if (::realpath(path.c_str(), real) == nullptr || ::stat(real, &status) != 0)
    return fmt::format("library = '{}': there is no such file", path);
  if ((status.st_mode & S_IWOTH) != 0) {
    return fmt::format("library = '{}' can be written by everyone; take that right away (chmod o-w)", path);
  }
  // The symbols are made global, because a vendor's kernels are often spread over several libraries that use each
  // other's symbols.
  if (::dlopen(real, RTLD_NOW | RTLD_GLOBAL) != nullptr) return "";
  return fmt::format("library = '{}' cannot be loaded: {}", path, ::dlerror());
}

/// Returns the device type with this name, or an empty optional if LibTorch does not know the name. A backend that is
/// loaded later may define it.
std::optional<at::DeviceType> type_named(const std::string& name) {
  try {
    return at::Device(name).type();
  } catch (const c10::Error&) {
    return {};
  }
}

/// A device that is used only through LibTorch's generic interface for devices, the device guard.
class GuardedDevice final : public ClaimedDevice {
 public:
  GuardedDevice(const Accelerator& accelerator, at::Device device)
      : ClaimedDevice(accelerator, device), guard_(*c10::impl::getDeviceGuardImpl(device.type())) {
    guard_.setDevice(device);
  }

  /// Waits until the current stream of the device has done all its work.
  void synchronize() override { guard_.synchronizeStream(guard_.getStream(torch_device())); }

 private:
  const c10::impl::DeviceGuardImplInterface& guard_;
};

}  // namespace

const TorchDevice::Found& TorchDevice::found() const {
  if (!found_) found_ = look();
  return *found_;
}

TorchDevice::Found TorchDevice::look() const {
  const auto none = [](std::string problem) { return Found{.type = {}, .devices = {0, std::move(problem)}}; };
  if (device_type_->empty()) return none("device_type must be given: hpu, ipu, xla, xpu, ...");
  if (!library_->empty()) {
    if (std::string problem = load(*library_); !problem.empty()) return none(std::move(problem));
  }
  const std::optional<at::DeviceType> type = type_named(*device_type_);
  if (!type) return none(fmt::format("device_type = '{}' is unknown to LibTorch", *device_type_));
  if (!c10::impl::hasDeviceGuardImpl(*type)) {
    const char* hint = library_->empty() ? "give the library that brings it" : "the library brings another one";
    return none(fmt::format("no backend is registered for '{}'; {}", *device_type_, hint));
  }
  const int count = c10::impl::getDeviceGuardImpl(*type)->deviceCount();
  return {.type = type, .devices = {count, count > 0 ? "" : "its backend finds no device"}};
}

FoundDevices TorchDevice::find_devices() const { return found().devices; }

AcceleratorTraits TorchDevice::traits() const {
  AcceleratorTraits traits{
      .precisions = *precisions_, .host_memory = false, .rules = *device_type_, .auto_priority = 0};
  traits.device_counts.assign(device_counts_->begin(), device_counts_->end());
  traits.gradient_clipping = *gradient_clipping_;
  traits.static_graph_only = *static_graph_only_;
  traits.memory_limit_bytes = static_cast<std::uint64_t>(*memory_limit_bytes_);
  return traits;
}

std::unique_ptr<ClaimedDevice> TorchDevice::open(int index) const {
  return std::make_unique<GuardedDevice>(*this, at::Device(*found().type, static_cast<c10::DeviceIndex>(index)));
}

}  // namespace trainyard

TRAINYARD_ACCELERATOR(trainyard::TorchDevice, "torch_device",
                      "Any device that a vendor's library adds to LibTorch: hpu, ipu, xla, xpu, ...")
