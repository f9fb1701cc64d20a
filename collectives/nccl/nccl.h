#pragma once

#include "collectives/engine_collective.h"

namespace trainyard {

/// Collectives by NCCL, between ranks that have a GPU each: the one that is current where the group is made.
///
/// The `data` of Elements may be device memory of that GPU, on which NCCL works in place; what was written there must
/// be finished, the stream synchronised, before an operation is asked for. Host memory is copied there and back. Send,
/// recv and barriers go over the sockets of the engine, and so take host memory only.
class Nccl final : public EngineCollective {
 public:
  explicit Nccl(CollectiveContext& context);
};

}  // namespace trainyard
