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
/// MPI_THREAD_MULTIPLE, and kIo if a function of MPI fails.
MPI_Comm make_communicator(const CollectiveContext& context);

/// Must be called when a group has failed. A process of a run then exits without calling MPI_Finalize, which would wait
/// for ranks that are gone. A process that the user has started with mpirun still calls it; otherwise mpirun would
/// report a crash.
void give_up_mpi();

MPI_Datatype mpi_type(DType dtype);
MPI_Op mpi_op(ReduceOp op);

}  // namespace trainyard::collectives
