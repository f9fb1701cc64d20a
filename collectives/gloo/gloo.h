// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::collectives {

/// A collective over Gloo, as LibTorch's c10d provides it. Operations that Gloo lacks are built from others: for a
/// mean, or a type that Gloo does not support, the elements are converted (WorkingForm); a reduce_scatter is an
/// all_reduce, and an all_gather of unequal parts is a series of broadcasts. Send, recv and barriers use ZeroMQ sockets
/// (Mesh) instead, through which a rank can detect which other rank does not respond. Gloo does not report this.
class Gloo final : public Collective {
 public:
  explicit Gloo(CollectiveContext& context) : Collective(context) {}

 private:
  Backend open() override;
};

}  // namespace trainyard::collectives
