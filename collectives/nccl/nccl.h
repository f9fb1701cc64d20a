// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::collectives {

/// A collective over NCCL, between ranks that each have their own GPU. A rank uses the GPU that is current when it
/// connects.
///
/// Elements may be in the memory of that GPU, where NCCL works on them in place. The caller must synchronise the stream
/// that writes them before it calls an operation. Elements in host memory are copied to the GPU and back. Send, recv
/// and barriers use ZeroMQ sockets (Mesh), so they accept only host memory.
class Nccl final : public Collective {
 public:
  explicit Nccl(CollectiveContext& context) : Collective(context) {}

  /// Returns true for host memory, and for device memory except with send and recv.
  bool serves(OperationKind kind, MemorySpace space) const override;

 private:
  void check() const override;
  Backend open() override;
};

}  // namespace trainyard::collectives
