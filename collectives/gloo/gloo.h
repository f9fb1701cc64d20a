// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::collectives {

/// A collective over Gloo, as LibTorch's c10d provides it. Operations that Gloo lacks are built from others: a
/// reduce_scatter is an all_reduce, and an all_gather of unequal parts is a series of broadcasts. For a mean, or a type
/// that Gloo does not support, the elements are converted (WorkingForm). Send, recv and barriers use ZeroMQ sockets
/// (Mesh) instead of Gloo. Through these sockets, a rank can also detect which other rank does not respond, which Gloo
/// does not report.
class Gloo final : public Collective {
 public:
  explicit Gloo(CollectiveContext& context) : Collective(context) {}

 private:
  Backend open() override;
};

}  // namespace trainyard::collectives
