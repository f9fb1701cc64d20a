#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::collectives {

/// Collectives by NCCL, between ranks that have a GPU each: the one that is current where the group is made.
///
/// The `data` of Elements may be device memory of that GPU, on which NCCL works in place. What was written there must
/// be finished, with the stream synchronised, before an operation is asked for. Host memory is copied there and back.
/// Send, recv and barriers use the sockets of the mesh, and so accept only host memory.
class Nccl final : public Collective {
 public:
  explicit Nccl(CollectiveContext& context) : Collective(context) {}

  /// The operations of the group also accept device memory; messages need memory of the host.
  bool serves(OperationKind kind, MemorySpace space) const override;

 private:
  void check() const override;
  Backend open() override;
};

}  // namespace trainyard::collectives
