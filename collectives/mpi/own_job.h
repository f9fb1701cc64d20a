// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "collectives/collective.h"

namespace trainyard::collectives {

// MPI accepts only processes that mpirun has started, but the launcher starts the processes of a run. So the process of
// rank 0 starts mpirun itself, with one small placeholder program (a place) for each rank. Each place publishes its
// environment variables. The process of the same rank sets these variables, so that MPI treats it as the process that
// mpirun has started.
//
//     rank 0's process --> mpirun -n 2 --> place 0, place 1
//     notes of the run <-- environment of each place
//     rank 1's process <-- environment of place 1

/// Returns true if the launcher has started this process. Otherwise MPI works only if mpirun has started it.
bool is_of_a_run();

/// Throws kUnsupported if mpirun is not in PATH. The error text says what the user can do.
void check_places(const CollectiveContext& context);

/// Throws kUnsupported if two ranks of the group share a process. Every rank of the group must call this function,
/// which waits for all of them.
void refuse_shared_process(const CollectiveContext& context);

/// Sets the environment variables that make MPI treat this process as the one that mpirun has started for its rank (see
/// the beginning of this file). is_of_a_run() must be true, and every rank of the run must call this function once,
/// before it initialises MPI. Throws kIo if mpirun fails, and kTimeout if the variables are not published in time.
void take_place(const CollectiveContext& context);

/// Whether rank 0 waits for the other ranks before it ends mpirun, which they need until they have finalised MPI. With
/// kTogether, rank 0 waits for all of them, but only for a few seconds. With kAtOnce, which is for a group that has
/// failed, it does not wait.
enum class Farewell : std::uint8_t { kTogether, kAtOnce };

/// Must be called when this process no longer uses MPI: after MPI_Finalize, or after the group has failed. On rank 0,
/// ends mpirun; on any other rank, tells rank 0 that this rank no longer needs mpirun. Does nothing if take_place() has
/// not been called. If the process of rank 0 ends without this call, mpirun still ends, because its input is closed.
void give_place_back(Farewell farewell);

}  // namespace trainyard::collectives
