// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::collectives {

/// A collective over Gloo, as LibTorch's c10d provides it. Operations that Gloo lacks are built from others: means, and
/// types that Gloo does not support, use a WorkingForm; reduce_scatter uses all_reduce, and uneven parts use
/// broadcasts. Send, recv and barriers use the sockets of the mesh, which, unlike Gloo, can detect which member does
/// not respond.
class Gloo final : public Collective {
 public:
  explicit Gloo(CollectiveContext& context) : Collective(context) {}

 private:
  Backend open() override;
};

}  // namespace trainyard::collectives
