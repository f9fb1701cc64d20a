// SPDX-License-Identifier: Apache-2.0
#include "tensors/autocast.h"

#include <ATen/autocast_mode.h>

#include "messages/error.h"
#include "tensors/version.h"

namespace trainyard {
namespace {

namespace autocast = at::autocast;

#if TRAINYARD_TORCH_AT_LEAST(2, 4)
bool enabled(at::DeviceType device) { return autocast::is_autocast_enabled(device); }
void set_enabled(at::DeviceType device, bool on) { autocast::set_autocast_enabled(device, on); }
at::ScalarType type_of(at::DeviceType device) { return autocast::get_autocast_dtype(device); }
void set_type(at::DeviceType device, at::ScalarType type) { autocast::set_autocast_dtype(device, type); }
#else
// LibTorch has separate functions for each kind of device. The names of the functions for CUDA do not mention the
// device.
[[noreturn]] void refuse(at::DeviceType device) {
  throw Error(Code::kUnsupported, "this LibTorch has no mixed precision on '{}'; it has it on cpu, cuda and xpu",
              at::DeviceTypeName(device, /*lower_case=*/true));
}

bool enabled(at::DeviceType device) {
  if (device == at::kCPU) return autocast::is_cpu_enabled();
  if (device == at::kCUDA) return autocast::is_enabled();
  if (device == at::kXPU) return autocast::is_xpu_enabled();
  refuse(device);
}

void set_enabled(at::DeviceType device, bool on) {
  if (device == at::kCPU) autocast::set_cpu_enabled(on);
  if (device == at::kCUDA) autocast::set_enabled(on);
  if (device == at::kXPU) autocast::set_xpu_enabled(on);
}

at::ScalarType type_of(at::DeviceType device) {
  if (device == at::kCPU) return autocast::get_autocast_cpu_dtype();
  return device == at::kCUDA ? autocast::get_autocast_gpu_dtype() : autocast::get_autocast_xpu_dtype();
}

void set_type(at::DeviceType device, at::ScalarType type) {
  if (device == at::kCPU) autocast::set_autocast_cpu_dtype(type);
  if (device == at::kCUDA) autocast::set_autocast_gpu_dtype(type);
  if (device == at::kXPU) autocast::set_autocast_xpu_dtype(type);
}
#endif

}  // namespace

Autocast::Autocast(at::DeviceType device, at::ScalarType type)
    : device_(device), was_enabled_(enabled(device)), previous_type_(type_of(device)) {
  set_type(device_, type);
  set_enabled(device_, true);
  autocast::increment_nesting();
}

/// The outermost Autocast discards the converted weights, because the optimizer is about to change the originals.
Autocast::~Autocast() {
  if (autocast::decrement_nesting() == 0) autocast::clear_cache();
  set_enabled(device_, was_enabled_);
  set_type(device_, previous_type_);
}

std::optional<at::ScalarType> active_autocast(at::DeviceType device) {
  return enabled(device) ? std::optional(type_of(device)) : std::nullopt;
}

}  // namespace trainyard
