// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::collectives {

/// A collective over NCCL, between ranks that each have a GPU. A rank uses the GPU that is current when it connects.
///
/// The `data` of Elements may be device memory of that GPU, on which NCCL works in place. Writes to this memory must be
/// finished, with the stream synchronised, before an operation is called. Host memory is copied to the GPU and back.
/// Send, recv and barriers use the sockets of the mesh, and so accept only host memory.
class Nccl final : public Collective {
 public:
  explicit Nccl(CollectiveContext& context) : Collective(context) {}

  /// Returns true for host memory and for device memory, except that messages (send and recv) accept only host memory.
  bool serves(OperationKind kind, MemorySpace space) const override;

 private:
  void check() const override;
  Backend open() override;
};

}  // namespace trainyard::collectives
