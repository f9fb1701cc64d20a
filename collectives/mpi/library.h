// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "collectives/collective.h"

namespace trainyard::collectives {

/// Throws kIo with MPI's own text if `result` is not success. `what` names the call that returned it.
void check_mpi(int result, const char* what);

/// Throws kUnsupported, and says what the user can do, if this process neither belongs to a run nor was started by
/// mpirun.
void check_reachable(const CollectiveContext& context);

/// Returns an MPI communicator of the members of a group. Initialises MPI if necessary. Throws kUnsupported if this MPI
/// does not support several threads.
MPI_Comm make_communicator(const CollectiveContext& context);

/// Makes the process of a run end without MPI_Finalize, which would wait for members that are gone.
void give_up_mpi();

MPI_Datatype mpi_type(DType dtype);
MPI_Op mpi_op(ReduceOp op);

}  // namespace trainyard::collectives
