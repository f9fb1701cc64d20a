// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "collectives/collective.h"

namespace trainyard::collectives {

// MPI knows only processes that mpirun has started, and the processes of a run are started by the launcher. So rank 0
// starts an mpirun of its own, with one small program for each rank that does nothing but hold the rank's place. Each
// process of the run takes the environment of its place, and MPI takes the process for the one that mpirun has started.
//
//     rank 0's process --> mpirun -n 2 --> place 0, place 1
//     notes of the run <-- environment of each place
//     rank 1's process <-- environment of place 1

/// Returns true if this process belongs to a launched run. Otherwise mpirun must have started it.
bool is_of_a_run();

/// Throws kUnsupported, and says what the user can do, if the processes of a run cannot have places here.
void check_places(const CollectiveContext& context);

/// Throws kUnsupported if two members of the group share this process. Every member calls it, and it waits for all.
void refuse_shared_process(const CollectiveContext& context);

/// Gives this process the place of its rank. It is called once, before MPI is initialised, on every rank of the run.
/// Throws kIo if mpirun fails, and kTimeout if no place is offered.
void take_place(const CollectiveContext& context);

/// Whether rank 0 waits for the other ranks, at most a few seconds, before it ends its mpirun. The other ranks need the
/// mpirun until MPI has ended for them, too; after a failure, rank 0 waits for nobody.
enum class Farewell : std::uint8_t { kTogether, kAtOnce };

/// Gives the place back after MPI has ended. If the process ends without this call, mpirun ends nevertheless, because
/// its input ends.
void give_place_back(Farewell farewell);

}  // namespace trainyard::collectives
