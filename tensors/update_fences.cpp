// SPDX-License-Identifier: Apache-2.0
#include "tensors/update_fences.h"

namespace trainyard {

UpdateFences::UpdateFences(const NativeDevice& native)
    : native_(native), gradients_ready_(native.device->make_fence()), parameters_ready_(native.device->make_fence()) {}

void UpdateFences::begin_update() { native_.stream->signal(gradients_ready_, ++begun_); }

void UpdateFences::end_update() {
  if (ended_ == begun_) return;
  ended_ = begun_;
  native_.stream->wait(parameters_ready_, ended_);
}

}  // namespace trainyard
