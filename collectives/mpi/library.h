#pragma once

#include <mpi.h>

#include "collectives/collective.h"

namespace trainyard::collectives {

/// Throws kIo with MPI's own text if `result` is not success.
void check_mpi(int result, const char* what);

/// Throws kUnsupported, with what can be done about it, if mpirun has not started this process.
void check_started_by_mpirun(const CollectiveContext& context);

/// The members of a group as an MPI communicator. Initialises MPI if nobody has done so. Throws kUnsupported if this
/// MPI supports only one thread.
MPI_Comm make_communicator(const CollectiveContext& context);

MPI_Datatype mpi_type(DType dtype);
MPI_Op mpi_op(ReduceOp op);

}  // namespace trainyard::collectives
