// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/plugin/plugin_context.h"
#include "tensors/mirrored_block.h"

namespace trainyard::accelerators {

/// Opens a device through its device plugin, for ClaimedDevice::native. `context` is the context of the accelerator,
/// `kind` is the name of the device plugin, and `uuid` identifies the device. `stream` is the driver's handle of the
/// stream on which LibTorch computes; see devices::Device::adopt_stream. The result keeps the device plugin alive.
///
/// Throws kNotFound if there is no such device plugin, and what devices::Driver::open and
/// devices::Device::adopt_stream throw.
NativeDevice open_native_device(const PluginContext& context, const std::string& kind, const std::string& uuid,
                                void* stream);

}  // namespace trainyard::accelerators
