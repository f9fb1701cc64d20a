// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "collectives/collective.h"

namespace trainyard::collectives {

/// Throws kIo with MPI's own text if `result` is not MPI_SUCCESS. `what` names the function that returned `result`.
void check_mpi(int result, const char* what);

/// Throws kUnsupported if this process can have no place in an MPI job: it neither belongs to a run on a machine with
/// mpirun nor was started by mpirun. The error text says what the user can do.
void check_reachable(const CollectiveContext& context);

/// Returns an MPI communicator for the members of a group. Initialises MPI if necessary. Throws kUnsupported if two
/// members share a process, or if this MPI does not support several threads.
MPI_Comm make_communicator(const CollectiveContext& context);

/// Makes this process, if it belongs to a run, end without MPI_Finalize, which would wait for members that are gone.
void give_up_mpi();

MPI_Datatype mpi_type(DType dtype);
MPI_Op mpi_op(ReduceOp op);

}  // namespace trainyard::collectives
