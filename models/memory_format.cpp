// SPDX-License-Identifier: Apache-2.0
#include "models/memory_format.h"

#include <ATen/ops/clone.h>

namespace trainyard {

at::Tensor channels_last(const at::Tensor& images_BCHW) {
  constexpr at::MemoryFormat kFormat = at::MemoryFormat::ChannelsLast;
  return images_BCHW.suggest_memory_format() == kFormat ? images_BCHW : images_BCHW.clone(kFormat);
}

}  // namespace trainyard
