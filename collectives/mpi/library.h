// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "collectives/collective.h"

namespace trainyard::collectives {

/// Throws kIo with MPI's own text if `result` is not MPI_SUCCESS. `what` names the function that returned `result`.
void check_mpi(int result, const char* what);

/// Throws kUnsupported if MPI cannot work in this process. A process of a run needs mpirun in PATH; any other process
/// must have been started by mpirun. The error text says what the user can do.
void check_reachable(const CollectiveContext& context);

/// Returns an MPI communicator for the ranks of a group. Initialises MPI if necessary. All ranks of the group must call
/// this function. Throws kUnsupported if two ranks share a process, or if this MPI does not support
/// MPI_THREAD_MULTIPLE.
MPI_Comm make_communicator(const CollectiveContext& context);

/// Call this function when a group has failed. If the process belongs to a run, it does not call MPI_Finalize when it
/// exits, because MPI_Finalize would wait for ranks that are gone.
void give_up_mpi();

MPI_Datatype mpi_type(DType dtype);
MPI_Op mpi_op(ReduceOp op);

}  // namespace trainyard::collectives
