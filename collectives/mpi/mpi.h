// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::collectives {

/// A collective over Open MPI. It works between the ranks of a run if each rank has a process of its own, and between
/// processes that mpirun has started; otherwise connect() throws kUnsupported. The first collective of a process calls
/// MPI_Init_thread, and MPI_Finalize is called when the process exits. MPI uses only shared memory, unless the
/// environment variable OMPI_MCA_btl selects something else.
///
/// Elements are copied to memory of the operation and back. MPI cannot cancel an operation, so its memory must remain
/// valid even if a rank stops responding in the middle. Send, recv and barriers use the sockets of the mesh.
class Mpi final : public Collective {
 public:
  explicit Mpi(CollectiveContext& context) : Collective(context) {}

 private:
  void check() const override;
  Backend open() override;
};

}  // namespace trainyard::collectives
