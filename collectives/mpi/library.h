#pragma once

#include <mpi.h>

#include "collectives/collective.h"

namespace trainyard::collectives {

/// Throws kIo with MPI's own words for a result that is no success.
void check_mpi(int result, const char* what);

/// Throws kUnsupported, with what can be done about it, where mpirun has not started this process.
void check_started_by_mpirun(const CollectiveContext& context);

/// The members of a group in MPI's own terms. Initialises MPI if nobody has done so. Throws kUnsupported where this MPI
/// serves one thread only.
MPI_Comm make_communicator(const CollectiveContext& context);

MPI_Datatype mpi_type(DType dtype);
MPI_Op mpi_op(ReduceOp op);

}  // namespace trainyard::collectives
