// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/plugin/plugin_context.h"
#include "tensors/mirrored_block.h"

namespace trainyard::cuda {

/// Opens the GPU with the number `gpu` through the device plugin `cuda`. `stream` is the cudaStream_t on which LibTorch
/// computes. Returns nothing, and logs the reason, if the plugin is missing or cannot be used.
std::optional<NativeDevice> open_native(const PluginContext& context, int gpu, void* stream);

}  // namespace trainyard::cuda
