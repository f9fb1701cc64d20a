// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::collectives {

/// A collective over Open MPI. It works if each rank of the run has a separate process, or if mpirun has started the
/// processes; otherwise connect() throws kUnsupported. The first collective of a process calls MPI_Init_thread, and
/// MPI_Finalize is called when the process exits. MPI uses only shared memory, unless the environment variable
/// OMPI_MCA_btl selects something else.
///
/// Each operation works on a copy of the elements. MPI cannot cancel an operation, so the copy remains valid even if
/// the group fails in the meantime. An operation on more than 2^31 - 1 elements fails with kUnsupported. Send, recv and
/// barriers use ZeroMQ sockets (Mesh) instead of MPI.
class Mpi final : public Collective {
 public:
  explicit Mpi(CollectiveContext& context) : Collective(context) {}

 private:
  void check() const override;
  Backend open() override;
};

}  // namespace trainyard::collectives
