// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "collectives/collective.h"

namespace trainyard::collectives {

// MPI accepts only processes that mpirun has started, but the processes of a run are started by the launcher. So rank 0
// starts an mpirun of its own, with one small program for each rank. This program only holds the rank's place in the
// MPI job. Each process of the run takes over the environment of its place, and MPI treats it as the process that
// mpirun has started.
//
//     rank 0's process --> mpirun -n 2 --> place 0, place 1
//     notes of the run <-- environment of each place
//     rank 1's process <-- environment of place 1

/// Returns true if this process belongs to a launched run. Otherwise mpirun must have started it.
bool is_of_a_run();

/// Throws kUnsupported if the processes of a run cannot get places, because mpirun is not in PATH. The error text says
/// what the user can do.
void check_places(const CollectiveContext& context);

/// Throws kUnsupported if two members of the group share a process. Every member must call this function, which waits
/// for all of them.
void refuse_shared_process(const CollectiveContext& context);

/// Gives this process the place of its rank, by setting its environment. Called once on every rank of the run, before
/// MPI is initialised. Throws kIo if mpirun fails, and kTimeout if mpirun offers no place in time.
void take_place(const CollectiveContext& context);

/// How rank 0 ends its mpirun. The other ranks need mpirun until they have ended MPI. With kTogether, rank 0 waits for
/// the other ranks for at most a few seconds. With kAtOnce it does not wait; this is for a group that has failed.
enum class Farewell : std::uint8_t { kTogether, kAtOnce };

/// Releases the place, after MPI has ended in this process. If the process ends without this call, mpirun still ends,
/// because its input is closed.
void give_place_back(Farewell farewell);

}  // namespace trainyard::collectives
