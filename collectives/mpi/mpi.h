#pragma once

#include "collectives/engine_collective.h"

namespace trainyard {

/// Collectives by Open MPI, between ranks that mpirun has started; others get an error that says so. The first
/// collective of a process calls MPI_Init_thread, the end of the process MPI_Finalize. Shared memory is all that MPI
/// may use, unless OMPI_MCA_btl says otherwise.
///
/// Elements are copied to memory of the operation and back: MPI cannot take an operation back, and its memory must stay
/// even if a rank falls silent in the middle. Send, recv and barriers go over the sockets of the engine.
class Mpi final : public EngineCollective {
 public:
  explicit Mpi(CollectiveContext& context);
};

}  // namespace trainyard
